// Times as Kubernetes writes them, and ages as kubectl prints them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace drover::kube {

// "2026-12-01T02:30:00Z".
[[nodiscard]] std::string time_text(Instant at);
// "2026-12-01T02:30:00.123000Z", of leases and events.
[[nodiscard]] std::string micro_time_text(Instant at);
// RFC 3339 with or without a fraction and an offset; nothing for another text. Rounded down to
// milliseconds.
[[nodiscard]] std::optional<Instant> time_of(std::string_view text);

// "45s", "3m12s", "5d3h", "2y20d"; "<invalid>" for what is in the future.
[[nodiscard]] std::string duration_text(Duration age);
// Since a time as an object has it; "<unknown>" when it has none.
[[nodiscard]] std::string age_text(std::string_view since, Instant now);

}  // namespace drover::kube
