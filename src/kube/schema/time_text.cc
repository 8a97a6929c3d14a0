#include "kube/schema/time_text.h"

#include <array>
#include <chrono>
#include <cstdio>

namespace drover::kube {
namespace {

constexpr std::int64_t kDay = 86'400;
constexpr std::int64_t kFirst = -62'167'219'200;  // year 0
constexpr std::int64_t kLast = 253'402'300'799;   // the end of year 9999

std::string civil(std::int64_t seconds) {
  if (seconds < kFirst || seconds > kLast) return {};
  const std::int64_t day = (seconds - kFirst) / kDay + kFirst / kDay;
  const std::int64_t rest = seconds - day * kDay;
  const std::chrono::year_month_day date{std::chrono::sys_days{std::chrono::days{day}}};
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d",
                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), static_cast<int>(rest / 3600),
                static_cast<int>(rest / 60 % 60), static_cast<int>(rest % 60));
  return text.data();
}

class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  // Exactly `count` digits.
  int number(int count) {
    int value = 0;
    for (int i = 0; i < count; ++i) value = value * 10 + digit();
    return value;
  }
  void sign(char a, char b) {
    if (rest_.empty() || (rest_.front() != a && rest_.front() != b)) {
      bad_ = true;
    } else {
      rest_.remove_prefix(1);
    }
  }
  void sign(char a) { sign(a, a); }
  std::int32_t fraction() {
    if (!rest_.starts_with('.')) return 0;
    rest_.remove_prefix(1);
    std::int32_t value = 0;
    std::int32_t place = 100'000'000;
    do {
      value += digit() * place;
      place /= 10;
    } while (!bad_ && !rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9');
    return value;
  }
  // Seconds that the clock is ahead of UTC.
  int offset() {
    if (rest_ == "Z" || rest_ == "z") return 0;
    const bool behind = rest_.starts_with('-');
    sign('+', '-');
    const int hours = number(2);
    sign(':');
    const int minutes = number(2);
    if (!rest_.empty() || hours > 23 || minutes > 59) bad_ = true;
    return (behind ? -60 : 60) * (hours * 60 + minutes);
  }
  [[nodiscard]] bool bad() const { return bad_; }

 private:
  int digit() {
    if (rest_.empty() || rest_.front() < '0' || rest_.front() > '9') {
      bad_ = true;
      return 0;
    }
    const int value = rest_.front() - '0';
    rest_.remove_prefix(1);
    return value;
  }
  std::string_view rest_;
  bool bad_ = false;
};

}  // namespace

std::string time_text(Moment moment) {
  std::string text = civil(moment.seconds);
  return text.empty() ? text : text + "Z";
}

std::string micro_time_text(Moment moment) {
  const std::string text = civil(moment.seconds);
  if (text.empty()) return text;
  std::array<char, 16> micros{};
  std::snprintf(micros.data(), micros.size(), ".%06dZ", moment.nanos / 1000 % 1'000'000);
  return text + micros.data();
}

std::optional<Moment> parse_time(std::string_view text) {
  Reader reader(text);
  const int year = reader.number(4);
  reader.sign('-');
  const int month = reader.number(2);
  reader.sign('-');
  const int day = reader.number(2);
  reader.sign('T', 't');
  const int hour = reader.number(2);
  reader.sign(':');
  const int minute = reader.number(2);
  reader.sign(':');
  const int second = reader.number(2);
  const std::int32_t nanos = reader.fraction();
  const int offset = reader.offset();
  const std::chrono::year_month_day date{std::chrono::year{year},
                                         std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  if (reader.bad() || !date.ok() || hour > 23 || minute > 59 || second > 59) return std::nullopt;
  const std::int64_t days = std::chrono::sys_days{date}.time_since_epoch().count();
  return Moment{days * kDay + hour * 3600 + minute * 60 + second - offset, nanos};
}

}  // namespace drover::kube
