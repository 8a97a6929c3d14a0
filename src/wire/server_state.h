// What all connections of one server share: options, handler, and the counts behind its limits.
// Internal to wire.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "wire/http_server.h"

namespace drover::wire {

class ServerState {
 public:
  ServerState(ServerOptions options, Handler handler)
      : options_(std::move(options)), handler_(std::move(handler)) {}

  [[nodiscard]] const ServerOptions& options() const { return options_; }
  [[nodiscard]] const Handler& handler() const { return handler_; }

  // 0 when one more connection of that user fits, else the status that refuses it.
  [[nodiscard]] int enter(const Peer& peer);
  void leave(const Peer& peer);
  // A connection that is only being told that there are too many.
  [[nodiscard]] bool enter_refused();
  void leave_refused();
  [[nodiscard]] std::size_t connections() const;
  // Waits until all connections have gone; false after `limit`.
  bool wait_until_empty(std::chrono::milliseconds limit);

  [[nodiscard]] bool charge_body(std::size_t bytes) {
    if (bodies_.fetch_add(bytes) + bytes <= options_.max_bodies) return true;
    bodies_.fetch_sub(bytes);
    return false;
  }
  void release_body(std::size_t bytes) { bodies_.fetch_sub(bytes); }

  void wind_down() { winding_down_ = true; }
  [[nodiscard]] bool winding_down() const { return winding_down_; }

 private:
  const ServerOptions options_;
  const Handler handler_;
  std::atomic<std::size_t> bodies_{0};
  std::atomic<bool> winding_down_{false};
  mutable std::mutex mutex_;
  std::condition_variable left_;
  std::size_t connections_ = 0;
  std::size_t refused_ = 0;
  std::map<std::uint32_t, std::size_t> by_user_;
};

}  // namespace drover::wire
