// How much of a stream may wait, and for how long.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>

#include "wire/byte_stream.h"

namespace drover::kube {

inline constexpr std::size_t kStreamHigh =
    512U << 10U;  // bytes that wait for one side hold the other up
inline constexpr std::size_t kStreamLow = 128U << 10U;  // and then it goes on
inline constexpr std::chrono::milliseconds kStreamTick{10'000};
// For a client who reads slowly to read all, when everything has been said.
inline constexpr std::chrono::milliseconds kFarewell{300'000};
inline constexpr int kAttachTicks = 2;       // for the node's first answer
inline constexpr int kIdleTicks = 4 * 360;   // 4 hours without a byte, as a kubelet has it
inline constexpr int kDeadTicks = 6;         // without an answer to a ping
inline constexpr int kCreateTicks = 3;       // for the streams of a SPDY connection to be opened
inline constexpr int kMostPodStreams = 256;  // of all clients together

inline constexpr wire::ByteLimits kClientLimits{
    .low = kStreamLow, .tick = kStreamTick, .linger = kFarewell};
inline constexpr wire::ByteLimits kNodeLimits{
    .low = kStreamLow, .tick = kStreamTick, .linger = std::chrono::milliseconds(0)};

// Counts the streams that are open.
class StreamGate {
 public:
  // Leaves when the last copy goes; null: there are too many.
  using Pass = std::shared_ptr<const void>;
  [[nodiscard]] Pass enter() const {
    if (open_->fetch_add(1) >= most_) {
      --*open_;
      return nullptr;
    }
    return {open_.get(), [open = open_](const void*) { --*open; }};
  }
  [[nodiscard]] int open() const { return *open_; }
  explicit StreamGate(int most = kMostPodStreams) : most_(most) {}

 private:
  const int most_;
  std::shared_ptr<std::atomic<int>> open_ = std::make_shared<std::atomic<int>>(0);
};

}  // namespace drover::kube
