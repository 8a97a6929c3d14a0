// The two clocks of the edges. The core never reads them: it gets an Instant as an argument.
#pragma once

#include <ctime>

#include "base/time.h"

namespace drover {

namespace clock_detail {
inline Duration read_clock(clockid_t clock) {
  timespec t{};
  ::clock_gettime(clock, &t);
  return seconds(t.tv_sec) + Duration(t.tv_nsec / 1'000'000);
}
}  // namespace clock_detail

// The wall clock: may jump, in both directions.
[[nodiscard]] inline Instant wall_now() { return Instant(clock_detail::read_clock(CLOCK_REALTIME)); }

// Time since boot, suspended time included: never jumps; for limits, leases and waits.
[[nodiscard]] inline Duration since_boot() { return clock_detail::read_clock(CLOCK_BOOTTIME); }

}  // namespace drover
