// Carries bytes between connections of this machine and TLS connections to others: one thread for all,
// 64 KiB each way for each pair, and who doesn't read holds up his own writer alone.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/result.h"
#include "os/fd.h"
#include "tls/channel.h"

namespace drover::agent {

class Pump {
 public:
  static constexpr std::size_t kRoom = 64U << 10U;

  [[nodiscard]] static Result<std::unique_ptr<Pump>> start();
  ~Pump();
  Pump(const Pump&) = delete;
  Pump& operator=(const Pump&) = delete;

  // `plain` is a connected socket, `channel` has its handshake behind it. Until both have ended, or one
  // broke. From any thread.
  void carry(Fd plain, tls::Channel channel);
  [[nodiscard]] std::size_t pairs() const;

 private:
  struct Pair;
  explicit Pump(Fd bell);
  void run();
  void take_new();
  void wait();

  Fd bell_;
  std::thread thread_;
  std::list<Pair> pairs_;  // the thread's own
  mutable std::mutex mutex_;
  std::vector<std::pair<Fd, tls::Channel>> fresh_;
  std::size_t count_ = 0;
  bool stopping_ = false;
};

}  // namespace drover::agent
