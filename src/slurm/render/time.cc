#include "slurm/render/time.h"

#include <string>

namespace drover::slurm {
namespace {

constexpr std::int64_t kDay = 86400;

// By hand: a list has one for each of a hundred thousand rows.
void add_two_digits(std::string& text, std::int64_t number) {
  text += static_cast<char>('0' + number / 10);
  text += static_cast<char>('0' + number % 10);
}

struct Parts {
  std::int64_t days, hours, minutes, seconds;
};
Parts parts(std::int64_t s) { return {s / kDay, s / 3600 % 24, s / 60 % 60, s % 60}; }

}  // namespace

std::string short_duration(std::int64_t s) {
  if (s < 0) return "INVALID";
  const Parts p = parts(s);
  if (p.days > 0) return long_duration(s);
  std::string text = std::to_string(p.hours > 0 ? p.hours : p.minutes) + ':';
  if (p.hours > 0) {
    add_two_digits(text, p.minutes);
    text += ':';
  }
  add_two_digits(text, p.seconds);
  return text;
}

std::string long_duration(std::int64_t s) {
  if (s < 0) return "INVALID";
  const Parts p = parts(s);
  std::string text = p.days > 0 ? std::to_string(p.days) + '-' : std::string();
  add_two_digits(text, p.hours);
  text += ':';
  add_two_digits(text, p.minutes);
  text += ':';
  add_two_digits(text, p.seconds);
  return text;
}

std::string cpu_duration(std::int64_t ms) {
  if (ms < 0) return "INVALID";
  const Parts p = parts(ms / 1000);
  if (p.days > 0 || p.hours > 0) return long_duration(ms / 1000);
  std::string text;
  add_two_digits(text, p.minutes);
  text += ':';
  add_two_digits(text, p.seconds);
  text += '.';
  text += static_cast<char>('0' + ms % 1000 / 100);
  add_two_digits(text, ms % 100);
  return text;
}

std::string TimeFormat::print(std::optional<std::int64_t> unix, std::string_view none) const {
  if (!unix) return std::string(none);
  if (format_ == "relative") return relative(*unix);
  if (format_.find('%') != std::string::npos) return pattern(*unix, format_.c_str());
  return pattern(*unix, "%Y-%m-%dT%H:%M:%S");
}

std::string TimeFormat::heading() const { return pattern(now_, "%a %b %d %H:%M:%S %Y"); }

std::string TimeFormat::pattern(std::int64_t unix, const char* format) const {
  std::tm fields = zone_.local(unix);
  char buffer[256];
  const std::size_t size = std::strftime(buffer, sizeof buffer, format, &fields);
  return {buffer, size};
}

// Near days by name, far ones without the hour.
std::string TimeFormat::relative(std::int64_t unix) const {
  const std::tm then = zone_.local(unix);
  const std::tm today = zone_.local(now_);
  const auto day_number = [](std::tm fields) {
    fields.tm_hour = fields.tm_min = fields.tm_sec = 0;
    return timegm(&fields) / kDay;
  };
  const auto apart = day_number(then) - day_number(today);
  if (apart == 0) return pattern(unix, "%H:%M:%S");
  if (apart == -1) return "Ystday " + pattern(unix, "%H:%M");
  if (apart == 1) return "Tomorr " + pattern(unix, "%H:%M");
  if (apart < -365 || apart > 365) return pattern(unix, "%-d %b %Y");
  if (apart < -1 || apart > 6) return pattern(unix, "%-d %b %H:%M");
  return pattern(unix, "%a %H:%M");
}

}  // namespace drover::slurm
