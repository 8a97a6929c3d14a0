// Carries bytes between connections of this machine and TLS connections to others: one thread for
// all, 64 KiB each way for each pair, and who doesn't read holds up his own writer alone.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "os/fd.h"
#include "tls/channel.h"

namespace drover::relay {

class Pump {
 public:
  static constexpr std::size_t kRoom = 64U << 10U;

  struct Load {
    Fd plain;  // a connected socket
    tls::Channel channel;
    std::string to_channel = {};  // is said before what `plain` says
    std::string to_plain = {};
    // For a channel whose handshake is still to be made: the peer is sent `to_channel` and answers
    // with an Opened. When that comes to nothing within some seconds, `plain` is told what this
    // returns.
    std::function<std::string(const Error&)> refused = nullptr;
  };

  [[nodiscard]] static Result<std::unique_ptr<Pump>> start();
  ~Pump();
  Pump(const Pump&) = delete;
  Pump& operator=(const Pump&) = delete;

  // Until both sides have ended, or one is gone and the other has what was said before. From any
  // thread.
  void carry(Load load);
  [[nodiscard]] std::size_t pairs() const;

 private:
  class Pair;
  explicit Pump(Fd bell);
  void run();
  void take_new();
  void wait();

  Fd bell_;
  std::thread thread_;
  std::list<Pair> pairs_;  // the thread's own
  mutable std::mutex mutex_;
  std::vector<Load> fresh_;
  std::size_t count_ = 0;
  bool stopping_ = false;
};

}  // namespace drover::relay
