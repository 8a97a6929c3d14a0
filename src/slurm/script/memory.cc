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
  std::uint64_t factor = 1;
  if (unit == "g" || unit == "gb") {
    factor = 1024;
  } else if (unit == "t" || unit == "tb") {
    factor = 1024 * 1024;
  } else if (unit == "k" || unit == "kb") {
    return static_cast<std::int64_t>(*number / 1024 + (*number % 1024 != 0 ? 1 : 0));
  } else if (!unit.empty() && unit != "m" && unit != "mb") {
    return malformed;
  }
  // The top is 2^42 MiB, so that sums over nodes and CPUs stay far from overflow.
  constexpr std::uint64_t kMost = std::uint64_t{1} << 42U;
  if (*number > kMost / factor)
    return Error{Errc::invalid, "'" + printable(text) + "' is more memory than can exist"};
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
