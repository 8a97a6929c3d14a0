// How long to wait before what failed is tried again, as Kubernetes' users know it.
#pragma once

#include <cstdint>

#include "base/time.h"

namespace drover::agent {

inline constexpr Duration kFirstBackoff = seconds(10);
inline constexpr Duration kLongestBackoff = minutes(5);
inline constexpr Duration kGoodRun = minutes(10);  // after one of these a crash is the first again

// Before the next try of what has failed `failures` times in a row: 10 s, doubling to five minutes.
[[nodiscard]] constexpr Duration backoff_after(std::uint32_t failures) {
  Duration wait = kFirstBackoff;
  for (std::uint32_t i = 1; i < failures && wait < kLongestBackoff; ++i) wait *= 2;
  return failures == 0 ? Duration{} : wait < kLongestBackoff ? wait : kLongestBackoff;
}

// The same of a container's restarts: the first is at once.
[[nodiscard]] constexpr Duration restart_delay(std::uint32_t crashes) {
  return crashes <= 1 ? Duration{} : backoff_after(crashes - 1);
}

}  // namespace drover::agent
