#include "slurm/script/memory.h"

#include <cstdio>
#include <limits>

#include "base/text.h"

namespace drover::slurm {

Result<std::int64_t> parse_memory_mib(std::string_view text) {
  const std::size_t end = text.find_first_not_of("0123456789");
  const auto number = parse_uint(text.substr(0, end));
  const std::string unit = end == std::string_view::npos ? "" : lower(text.substr(end));
  const Error malformed{Errc::invalid,
                        "'" + printable(text) + "' is not a size: write a whole number and K, M, G or T"};
  if (!number) return malformed;
  // The top is 2 PiB, so that products with counts of nodes and CPUs stay below 63 bits.
  constexpr std::uint64_t kMost = std::uint64_t{1} << 31U;
  const Error too_much{Errc::invalid, "'" + printable(text) + "' is more memory than can exist"};
  if (unit == "k" || unit == "kb") {
    const std::uint64_t rounded_up = *number / 1024 + (*number % 1024 != 0 ? 1 : 0);
    if (rounded_up > kMost) return too_much;
    return static_cast<std::int64_t>(rounded_up);
  }
  std::uint64_t factor = 1;
  if (unit == "g" || unit == "gb") {
    factor = 1024;
  } else if (unit == "t" || unit == "tb") {
    factor = 1024 * 1024;
  } else if (!unit.empty() && unit != "m" && unit != "mb") {
    return malformed;
  }
  if (*number > kMost / factor) return too_much;
  return static_cast<std::int64_t>(*number * factor);
}

std::string print_memory_mib(std::int64_t mib, bool convert) {
  constexpr char kUnits[] = {'M', 'G', 'T', 'P'};
  if (mib == 0) return "0";
  auto amount = static_cast<double>(mib);
  std::size_t unit = 0;
  while (convert && unit + 1 < sizeof kUnits && amount >= 1024 && static_cast<std::int64_t>(amount) % 512 == 0) {
    amount /= 1024;
    ++unit;
  }
  char text[48];
  const auto whole = static_cast<std::int64_t>(amount);
  if (static_cast<double>(whole) == amount) {
    std::snprintf(text, sizeof text, "%lld%c", static_cast<long long>(whole), kUnits[unit]);
  } else {
    std::snprintf(text, sizeof text, "%.2f%c", amount, kUnits[unit]);
  }
  return text;
}

}  // namespace drover::slurm
