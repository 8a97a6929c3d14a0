// Job arrays: --array=0-31,40:2%4.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace drover::slurm {

struct ArrayLimits {
  std::uint32_t above_last_index = 4'000'001;  // MaxArraySize: indices stay below it
  std::uint32_t most_tasks = 1'000'000;
};

struct ArraySpec {
  std::vector<std::uint32_t> tasks;  // ascending, each once
  std::uint32_t at_once = 0;         // 0: without limit
  friend bool operator==(const ArraySpec&, const ArraySpec&) = default;
};

[[nodiscard]] Result<ArraySpec> parse_array(std::string_view text, ArrayLimits limits = {});

// The tasks without the throttle: "0-31,40". A long regular list is first-last:step; `most` cuts
// what would be longer and ends it in "...", 0 never cuts.
[[nodiscard]] std::string print_tasks(std::span<const std::uint32_t> tasks, std::size_t most = 64);

}  // namespace drover::slurm
