// Cluster time: milliseconds since the Unix epoch, as the leader's log says.
#pragma once

#include <chrono>

namespace drover {

// It has no now(): the current instant is always an argument, so the same inputs always give the
// same decision. `Instant{}` means "never" or "not yet" where a field allows it.
struct ClusterClock {
  using duration = std::chrono::milliseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<ClusterClock>;
  static constexpr bool is_steady = true;
};

using Duration = ClusterClock::duration;
using Instant = ClusterClock::time_point;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

[[nodiscard]] constexpr std::int64_t unix_seconds(Instant at) {
  return std::chrono::floor<seconds>(at.time_since_epoch()).count();
}

}  // namespace drover
