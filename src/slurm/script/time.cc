#include "slurm/script/time.h"

#include <array>
#include <limits>

#include "base/text.h"

namespace drover::slurm {
namespace {

constexpr std::int64_t kDay = 86400;

Error bad_limit(std::string_view text) {
  return {Errc::invalid, "'" + printable(text) + "' is not a time limit: write MINUTES, H:M:S or DAYS-H:M:S"};
}

std::tm utc_fields(std::int64_t unix) {
  std::tm fields{};
  const std::time_t at = unix;
  gmtime_r(&at, &fields);
  return fields;
}
std::int64_t utc_unix(std::tm fields) { return timegm(&fields); }

std::tm local_fields(std::int64_t unix) {
  std::tm fields{};
  const std::time_t at = unix;
  localtime_r(&at, &fields);
  return fields;
}
std::int64_t local_unix(std::tm fields) {
  fields.tm_isdst = -1;
  return mktime(&fields);
}

// A number of at most nine digits.
std::optional<std::int64_t> small_number(std::string_view text) {
  if (text.empty() || text.size() > 9) return std::nullopt;
  const auto number = parse_uint(text);
  return number ? std::optional(static_cast<std::int64_t>(*number)) : std::nullopt;
}

}  // namespace

Zone utc_zone() { return {.local = utc_fields, .unix = utc_unix}; }
Zone system_zone() {
  tzset();
  return {.local = local_fields, .unix = local_unix};
}

Result<std::optional<seconds>> parse_time_limit(std::string_view text) {
  if (iequals(text, "UNLIMITED") || iequals(text, "INFINITE") || text == "-1") return std::optional<seconds>{};
  std::int64_t days = 0;
  std::string_view clock = text;
  const std::size_t dash = text.find('-');
  const bool with_days = dash != std::string_view::npos;
  if (with_days) {
    const auto number = small_number(text.substr(0, dash));
    if (!number) return bad_limit(text);
    days = *number;
    clock.remove_prefix(dash + 1);
  }
  const auto parts = split(clock, ':');
  if (parts.empty() || parts.size() > 3) return bad_limit(text);
  std::array<std::int64_t, 3> n{};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto number = small_number(parts[i]);
    if (!number) return bad_limit(text);
    n[i] = *number;
  }
  std::int64_t total = days * kDay;
  if (with_days || parts.size() == 3) {
    total += n[0] * 3600 + n[1] * 60 + n[2];
  } else {
    total += n[0] * 60 + n[1];
  }
  // Limits live in 31 bits of minutes.
  if (total / 60 >= std::numeric_limits<std::int32_t>::max()) return bad_limit(text);
  if (total == 0) return std::optional<seconds>{};
  return std::optional(seconds(total));
}

}  // namespace drover::slurm
