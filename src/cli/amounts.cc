#include "cli/amounts.h"

#include <array>
#include <limits>

#include "base/text.h"

namespace drover::cli {
namespace {

constexpr std::size_t kMostNames = 16'384;
constexpr std::size_t kLongestName = 63;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 60U;
constexpr std::int64_t kMostSeconds = 100LL * 366 * 86'400;

Error bad(std::string_view text, std::string_view what) {
  return {Errc::invalid, "'" + printable(text, 60) + "' is not " + std::string(what)};
}

struct Split {
  std::string_view number;
  std::string unit;  // lower case
};

Split split_unit(std::string_view text) {
  const std::size_t end = text.find_first_not_of("0123456789.");
  if (end == std::string_view::npos) return {text, ""};
  return {text.substr(0, end), lower(trim(text.substr(end)))};
}

// "62.5" of a unit, in whole bytes; nothing for what is no number or too much.
std::optional<std::int64_t> times(std::string_view number, std::int64_t unit) {
  const std::size_t dot = number.find('.');
  const auto whole = parse_uint(number.substr(0, dot));
  if (!whole || *whole > static_cast<std::uint64_t>(kMostBytes / unit)) return std::nullopt;
  std::int64_t bytes = static_cast<std::int64_t>(*whole) * unit;
  if (dot == std::string_view::npos) return bytes;
  const std::string_view digits = number.substr(dot + 1);
  const auto part = parse_uint(digits);
  if (!part || digits.size() > 3) return std::nullopt;
  std::int64_t divisor = 1;
  for (std::size_t i = 0; i < digits.size(); ++i) divisor *= 10;
  return bytes + static_cast<std::int64_t>(*part) * (unit / divisor) +
         static_cast<std::int64_t>(*part) * (unit % divisor) / divisor;
}

// The unit in bytes, or 0. `decimal`: GB is 10^9, GiB 2^30; else both are 2^30.
std::int64_t unit_bytes(std::string_view unit, bool decimal) {
  constexpr std::string_view kLetters = "kmgt";
  if (unit.empty()) return 0;
  const std::size_t power = kLetters.find(unit[0]);
  const std::string_view rest = unit.substr(1);
  if (power == std::string_view::npos || (!rest.empty() && rest != "b" && rest != "ib")) return 0;
  std::int64_t bytes = 1;
  for (std::size_t i = 0; i <= power; ++i) bytes *= decimal && rest != "ib" ? 1000 : 1024;
  return bytes;
}

Result<Bytes> size_of(std::string_view text, bool decimal) {
  const Split parts = split_unit(trim(text));
  if (parts.unit.empty() && parse_uint(parts.number)) {
    return bad(text, "a size: a unit is missing, as in " + std::string(parts.number) + "G");
  }
  const std::int64_t unit = unit_bytes(parts.unit, decimal);
  const auto bytes = unit == 0 ? std::nullopt : times(parts.number, unit);
  if (!bytes || *bytes == 0 || *bytes > kMostBytes) return bad(text, "a size, as 512G, 62.5G or 4096M are");
  return Bytes::of(*bytes);
}

std::int64_t unit_ms(std::string_view unit) {
  constexpr std::array<std::pair<std::string_view, std::int64_t>, 5> kUnits{
      {{"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}}};
  for (const auto& [word, ms] : kUnits) {
    if (unit == word) return ms;
  }
  return 0;
}

// "7-00:00:00" or "12:00:00"; nothing for anything else.
std::optional<std::int64_t> clock_seconds(std::string_view text) {
  const std::size_t dash = text.find('-');
  std::uint64_t days = 0;
  if (dash != std::string_view::npos) {
    const auto number = parse_uint(text.substr(0, dash));
    if (!number || *number > 36'600) return std::nullopt;
    days = *number;
    text.remove_prefix(dash + 1);
  }
  const auto parts = split(text, ':');
  if (parts.size() != 3) return std::nullopt;
  std::uint64_t total = 0;
  for (const std::string_view part : parts) {
    const auto number = parse_uint(part);
    if (!number || *number > 999'999) return std::nullopt;
    total = total * 60 + *number;
  }
  return static_cast<std::int64_t>(days * 86'400 + total);
}

// "1h30m" in milliseconds.
std::optional<std::int64_t> unit_sum(std::string_view text) {
  std::int64_t total = 0;
  if (text.empty()) return std::nullopt;
  while (!text.empty()) {
    const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    const std::size_t end = std::min(text.find_first_of("0123456789", digits), text.size());
    const auto number = parse_uint(text.substr(0, digits));
    const std::int64_t unit = unit_ms(text.substr(digits, end - digits));
    if (!number || unit == 0 || *number > static_cast<std::uint64_t>(kMostSeconds * 1000 / unit)) return std::nullopt;
    total += static_cast<std::int64_t>(*number) * unit;
    text.remove_prefix(end);
  }
  return total;
}

Status name_is_good(std::string_view whole, std::string_view name) {
  constexpr std::string_view kGood = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
  const bool good = !name.empty() && name.size() <= kLongestName && name[0] != '.' && name[0] != '-' &&
                    name.find_first_not_of(kGood) == std::string_view::npos;
  if (!good) return bad(whole, "a node name: letters, digits, '-', '_' and '.', at most 63 characters");
  return Done{};
}

std::string padded(std::uint64_t number, std::size_t width) {
  std::string text = std::to_string(number);
  return text.size() < width ? std::string(width - text.size(), '0') + text : text;
}

}  // namespace

Result<Bytes> parse_size(std::string_view text) { return size_of(text, false); }
Result<Bytes> parse_card_size(std::string_view text) { return size_of(text, true); }

Result<Duration> parse_duration(std::string_view text) {
  const std::string word = lower(trim(text));
  if (parse_uint(word) && word != "0") {
    return bad(text, "a time: a unit is missing, as in " + word + "s or " + word + "m");
  }
  const auto clock = clock_seconds(word);
  const auto ms = word == "0" ? std::optional<std::int64_t>(0) : clock ? *clock * 1000 : unit_sum(word);
  if (!ms || *ms > kMostSeconds * 1000) return bad(text, "a time, as 30s, 15m, 2h, 7d or 7-00:00:00 are");
  return Duration(*ms);
}

Result<std::uint32_t> parse_capability(std::string_view text) {
  const auto parts = split(text, '.');
  const auto major = parse_uint(parts.empty() ? "" : parts[0]);
  const auto minor = parts.size() == 2 ? parse_uint(parts[1]) : std::optional<std::uint64_t>(0);
  if (parts.size() > 2 || !major || !minor || *major > 99 || *minor > 9) {
    return bad(text, "a compute capability, as 8.0 is");
  }
  return static_cast<std::uint32_t>(*major * 10 + *minor);
}

Result<std::vector<std::string>> expand_names(std::string_view text) {
  const std::size_t open = text.find('[');
  if (open == std::string_view::npos) {
    TRY(name_is_good(text, text));
    return std::vector<std::string>{std::string(text)};
  }
  const std::size_t close = text.find(']', open);
  if (close == std::string_view::npos) return bad(text, "a list of names: ']' is missing");
  const std::string prefix(text.substr(0, open));
  const std::string suffix(text.substr(close + 1));
  std::vector<std::string> names;
  for (const std::string_view range : split(text.substr(open + 1, close - open - 1), ',')) {
    const std::size_t dash = range.find('-');
    const std::string_view low = range.substr(0, dash);
    const auto first = parse_uint(low);
    const auto last = dash == std::string_view::npos ? first : parse_uint(range.substr(dash + 1));
    if (!first || !last || *last < *first) return bad(text, "a list of names, as n[1-4,7] is");
    if (*last - *first >= kMostNames - names.size()) return bad(text, "possible: more than 16384 names");
    for (std::uint64_t n = *first; n <= *last; ++n) {
      names.push_back(prefix + padded(n, low.size()) + suffix);
      TRY(name_is_good(text, names.back()));
    }
  }
  if (names.empty()) return bad(text, "a list of names: the brackets are empty");
  return names;
}

}  // namespace drover::cli
