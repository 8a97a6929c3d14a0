// Sizes, times and names as people write them in the cluster file.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"
#include "base/result.h"
#include "base/time.h"

namespace drover::cli {

// "512G", "512GB", "62.5G", "4096MiB": 1024-based, as Slurm's --mem. A number without a unit is an
// error: nobody knows what was meant.
[[nodiscard]] Result<Bytes> parse_size(std::string_view text);

// The same for memory of GPUs, where "80GB" is 80 x 10^9, as on the card's box; "80GiB" is 1024-based.
[[nodiscard]] Result<Bytes> parse_card_size(std::string_view text);

// "30s", "15m", "2h", "7d", "1h30m", "500ms"; "7-00:00:00", "12:00:00" as Slurm writes them.
[[nodiscard]] Result<Duration> parse_duration(std::string_view text);

// "8.0" -> 80.
[[nodiscard]] Result<std::uint32_t> parse_capability(std::string_view text);

// "n[1-3,07-08]-a" -> n1-a n2-a n3-a n07-a n08-a; one pair of brackets at most, 16,384 names at most.
[[nodiscard]] Result<std::vector<std::string>> expand_names(std::string_view text);

}  // namespace drover::cli
