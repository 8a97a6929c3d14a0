// A request target taken apart: "/v1/jobs/7?user=ann&limit=5".
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace drover::wire {

struct Target {
  std::vector<std::string> path;                           // decoded segments: {"v1", "jobs", "7"}
  std::vector<std::pair<std::string, std::string>> query;  // decoded, in order; a name may come twice
};

// Refuses what has no clear meaning: no leading slash, a broken %XX, a NUL, a "." or ".." segment,
// an empty segment other than a last one.
[[nodiscard]] Result<Target> parse_target(std::string_view text);

// The other way: letters, digits and -._~ stay, all else becomes %XX.
[[nodiscard]] std::string percent_encode(std::string_view text);

}  // namespace drover::wire
