#include "slurm/render/time.h"

#include <cstdio>

namespace drover::slurm {
namespace {

constexpr std::int64_t kDay = 86400;

template <class... Args>
std::string text(const char* format, Args... args) {
  char buffer[96];
  std::snprintf(buffer, sizeof buffer, format, args...);
  return buffer;
}

struct Parts {
  long long days, hours, minutes, seconds;
};
Parts parts(std::int64_t s) { return {s / kDay, s / 3600 % 24, s / 60 % 60, s % 60}; }

}  // namespace

std::string short_duration(std::int64_t s) {
  if (s < 0) return "INVALID";
  const Parts p = parts(s);
  if (p.days > 0) return text("%lld-%02lld:%02lld:%02lld", p.days, p.hours, p.minutes, p.seconds);
  if (p.hours > 0) return text("%lld:%02lld:%02lld", p.hours, p.minutes, p.seconds);
  return text("%lld:%02lld", p.minutes, p.seconds);
}

std::string long_duration(std::int64_t s) {
  if (s < 0) return "INVALID";
  const Parts p = parts(s);
  if (p.days > 0) return text("%lld-%02lld:%02lld:%02lld", p.days, p.hours, p.minutes, p.seconds);
  return text("%02lld:%02lld:%02lld", p.hours, p.minutes, p.seconds);
}

std::string cpu_duration(std::int64_t ms) {
  if (ms < 0) return "INVALID";
  const Parts p = parts(ms / 1000);
  if (p.days > 0 || p.hours > 0) return long_duration(ms / 1000);
  return text("%02lld:%02lld.%03lld", p.minutes, p.seconds, static_cast<long long>(ms % 1000));
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
