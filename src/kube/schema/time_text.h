// Moments as Kubernetes writes them: RFC 3339 in UTC, whole seconds or six digits of a second.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace drover::kube {

struct Moment {
  std::int64_t seconds = 0;  // since 1970-01-01T00:00:00Z; years 0 to 9999
  std::int32_t nanos = 0;    // 0 to 999,999,999
  friend bool operator==(const Moment&, const Moment&) = default;
};

// "2026-12-01T02:03:04Z" and "2026-12-01T02:03:04.000005Z". "" outside the years 0 to 9999.
[[nodiscard]] std::string time_text(Moment moment);
[[nodiscard]] std::string micro_time_text(Moment moment);

// Takes any fraction and offset, and the small letters t and z.
[[nodiscard]] std::optional<Moment> parse_time(std::string_view text);

}  // namespace drover::kube
