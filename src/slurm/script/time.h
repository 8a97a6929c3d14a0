// Time limits and points in time as people type them. (How they are printed: render/time.h.)
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace drover::slurm {

// The user's time zone, injected so that no parser asks the machine.
struct Zone {
  std::tm (*local)(std::int64_t unix) = nullptr;
  std::int64_t (*unix)(std::tm local) = nullptr;  // fields out of range are carried over, as mktime does
};
[[nodiscard]] Zone utc_zone();
[[nodiscard]] Zone system_zone();  // TZ and /etc/localtime

// M, M:S, H:M:S, D-H, D-H:M, D-H:M:S; numbers may exceed their range. Nothing means without limit:
// UNLIMITED, INFINITE, -1 and 0.
[[nodiscard]] Result<std::optional<seconds>> parse_time_limit(std::string_view text);

// A limit is kept in minutes, rounded up.
[[nodiscard]] constexpr minutes whole_minutes(seconds limit) { return std::chrono::ceil<minutes>(limit); }

// Which way an incomplete time points: --begin looks ahead, sacct's -S looks back.
enum class Lean : std::uint8_t { ahead, back };

// now[+-COUNT[UNIT]], today, tomorrow, yesterday, midnight, noon, elevenses, fika, teatime,
// HH:MM[:SS] [AM|PM], MMDD[YY], MM/DD[/YY], MM.DD[.YY], YYYY-MM-DD[THH:MM[:SS]], utsSECONDS, and a
// date with a time in either order. Unix seconds.
[[nodiscard]] Result<std::int64_t> parse_when(std::string_view text, std::int64_t now, const Zone& zone,
                                              Lean lean = Lean::ahead);

}  // namespace drover::slurm
