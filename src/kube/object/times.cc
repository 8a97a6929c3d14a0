#include "kube/object/times.h"

#include <array>
#include <chrono>
#include <cstdio>

#include "base/text.h"

namespace drover::kube {
namespace {

using std::chrono::days;
using std::chrono::hours;

// A run of exactly `digits` digits at the front of `text`, taken off it.
std::optional<int> take(std::string_view& text, std::size_t digits) {
  const auto number = parse_uint(text.substr(0, digits));
  if (text.size() < digits || !number) return std::nullopt;
  text.remove_prefix(digits);
  return static_cast<int>(*number);
}

bool take(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<Duration> take_fraction(std::string_view& text) {
  if (!take(text, '.')) return Duration{0};
  std::size_t digits = 0;
  std::int64_t millis = 0;
  for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits) {
    if (digits < 3) millis = millis * 10 + (text[digits] - '0');
  }
  if (digits == 0) return std::nullopt;
  for (std::size_t i = digits; i < 3; ++i) millis *= 10;
  text.remove_prefix(digits);
  return Duration{millis};
}

std::optional<Duration> take_offset(std::string_view& text) {
  if (take(text, 'Z') || take(text, 'z')) return Duration{0};
  const bool west = take(text, '-');
  if (!west && !take(text, '+')) return std::nullopt;
  const auto hour = take(text, std::size_t{2});
  if (!hour || !take(text, ':')) return std::nullopt;
  const auto minute = take(text, std::size_t{2});
  if (!minute || *hour > 23 || *minute > 59) return std::nullopt;
  const Duration offset = hours(*hour) + minutes(*minute);
  return west ? -offset : offset;
}

std::optional<std::chrono::sys_days> take_date(std::string_view& text) {
  const auto year = take(text, std::size_t{4});
  if (!year || !take(text, '-')) return std::nullopt;
  const auto month = take(text, std::size_t{2});
  if (!month || !take(text, '-')) return std::nullopt;
  const auto day = take(text, std::size_t{2});
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date);
}

std::optional<Duration> take_clock(std::string_view& text) {
  const auto hour = take(text, std::size_t{2});
  if (!hour || !take(text, ':')) return std::nullopt;
  const auto minute = take(text, std::size_t{2});
  if (!minute || !take(text, ':')) return std::nullopt;
  const auto second = take(text, std::size_t{2});
  if (!second || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  return hours(*hour) + minutes(*minute) + seconds(*second);
}

std::string stamp(Instant at, bool micro) {
  const auto since = at.time_since_epoch();
  const auto day = std::chrono::floor<days>(since);
  const std::chrono::year_month_day date{std::chrono::sys_days(day)};
  const auto second = std::chrono::floor<seconds>(since - day).count();
  const auto millis = (since - std::chrono::floor<seconds>(since)).count();
  std::array<char, 64> text{};
  (void)std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02lld:%02lld:%02lld",
                      static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                      static_cast<unsigned>(date.day()), static_cast<long long>(second / 3600),
                      static_cast<long long>(second / 60 % 60),
                      static_cast<long long>(second % 60));
  std::string out = text.data();
  if (micro) {
    (void)std::snprintf(text.data(), text.size(), ".%03lld000", static_cast<long long>(millis));
    out += text.data();
  }
  return out + "Z";
}

// "5d3h", and "5d" where there is no rest.
std::string two(std::int64_t big, const char* big_unit, std::int64_t small,
                const char* small_unit) {
  std::string text = std::to_string(big) + big_unit;
  return small == 0 ? text : text + std::to_string(small) + small_unit;
}

}  // namespace

std::string time_text(Instant at) { return stamp(at, false); }
std::string micro_time_text(Instant at) { return stamp(at, true); }

std::optional<Instant> time_of(std::string_view text) {
  const auto date = take_date(text);
  if (!date || (!take(text, 'T') && !take(text, 't'))) return std::nullopt;
  const auto clock = take_clock(text);
  if (!clock) return std::nullopt;
  const auto fraction = take_fraction(text);
  if (!fraction) return std::nullopt;
  const auto offset = take_offset(text);
  if (!offset || !text.empty()) return std::nullopt;
  return Instant(date->time_since_epoch() + *clock + *fraction - *offset);
}

std::string duration_text(Duration age) {
  const std::int64_t s = std::chrono::floor<seconds>(age).count();
  if (s < -1) return "<invalid>";
  if (s < 0) return "0s";
  const std::int64_t m = s / 60;
  const std::int64_t h = m / 60;
  const std::int64_t d = h / 24;
  if (s < 120) return std::to_string(s) + "s";
  if (m < 10) return two(m, "m", s % 60, "s");
  if (m < 180) return std::to_string(m) + "m";
  if (h < 8) return two(h, "h", m % 60, "m");
  if (h < 48) return std::to_string(h) + "h";
  if (d < 8) return two(d, "d", h % 24, "h");
  if (d < std::int64_t{365} * 2) return std::to_string(d) + "d";
  if (d < std::int64_t{365} * 8) return two(d / 365, "y", d % 365, "d");
  return std::to_string(d / 365) + "y";
}

std::string age_text(std::string_view since, Instant now) {
  const auto at = time_of(since);
  return at ? duration_text(now - *at) : "<unknown>";
}

}  // namespace drover::kube
