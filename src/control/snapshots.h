// Writes snapshots of the follower's cluster in a thread of its own, and cuts the log behind them.
// Snapshots only shorten a restart; nothing is lost without them.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "control/follower.h"
#include "control/ledger.h"
#include "control/payloads.h"
#include "store/log.h"

namespace drover::control {

class Snapshots {
 public:
  Snapshots(Follower& follower, Ledger& ledger, Payloads& payloads, store::Log& log, std::uint64_t newest,
            std::function<void(const std::string&)> say);
  ~Snapshots();
  Snapshots(const Snapshots&) = delete;
  Snapshots& operator=(const Snapshots&) = delete;

  // Stops the thread; with `last`, writes one more first, for a quick start.
  void stop(bool last);

 private:
  void run();
  Status write();
  [[nodiscard]] std::vector<store::Hash> referred(const Cluster& cluster);

  static constexpr std::uint64_t kEvery = 20'000;  // records
  static constexpr std::uint64_t kWorthwhile = 2'000;  // for one at the end
  Follower& follower_;
  Ledger& ledger_;
  Payloads& payloads_;
  store::Log& log_;
  std::uint64_t newest_;  // position of the newest snapshot
  std::function<void(const std::string&)> say_;
  std::map<PayloadHash, std::pair<PayloadHash, PayloadHash>> bodies_;  // spec -> script, environment
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace drover::control
