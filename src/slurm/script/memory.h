// Sizes: --mem, --mem-per-cpu, --mem-per-gpu, --tmp. Whole MiB, 1024-based.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace drover::slurm {

// "64G", "64gb", "4096" (MB), "500K" (rounded up to 1 MB). Fractions, signs and "GiB" are errors.
[[nodiscard]] Result<std::int64_t> parse_memory_mib(std::string_view text);

// 65536 -> "64G", 1000 -> "1000M", 64000 -> "62.50G": the largest unit of which it is a whole or
// half number. With `convert` off always MB.
[[nodiscard]] std::string print_memory_mib(std::int64_t mib, bool convert = true);

}  // namespace drover::slurm
