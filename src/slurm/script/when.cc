// Points in time: a small parser of words, dates and clock times in any order.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "slurm/script/time.h"

namespace drover::slurm {
namespace {

constexpr std::int64_t kDay = 86400;

// A number of at most nine digits.
std::optional<std::int64_t> small_number(std::string_view text) {
  if (text.empty() || text.size() > 9) return std::nullopt;
  const auto number = parse_uint(text);
  return number ? std::optional(static_cast<std::int64_t>(*number)) : std::nullopt;
}

class WhenParser {
 public:
  WhenParser(std::string_view text, std::int64_t now, const Zone& zone, Lean lean)
      : text_(text), now_(now), zone_(zone), lean_(lean), today_(zone.local(now)) {}

  Result<std::int64_t> run() {
    if (text_.starts_with("uts")) {
      if (const auto at = parse_uint(text_.substr(3)); at && *at <= kFarthest) return static_cast<std::int64_t>(*at);
      return bad();
    }
    for (const std::string_view token : tokens()) {
      if (!take(token)) return bad();
    }
    if (relative_) return (!day_ && !clock_) ? Result<std::int64_t>(*relative_) : bad();
    if (!day_ && !clock_) return bad();
    return settle();
  }

 private:
  static constexpr std::uint64_t kFarthest = 253402300799;  // the end of year 9999
  struct Day {
    int year;
    int month;
    int day;
    bool has_year;
  };
  struct Clock {
    int hour;
    int minute;
    int second;
  };

  [[nodiscard]] Error bad() const {
    return {Errc::invalid, "'" + printable(text_) + "' is not a time: write now+1hour, 16:30 or 2027-01-31T16:30:00"};
  }

  // Split at blanks and at the T (or, as clients write it, the third hyphen) between a date and a time;
  // AM and PM are words of their own.
  [[nodiscard]] std::vector<std::string_view> tokens() const {
    std::vector<std::string_view> list;
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= text_.size(); ++i) {
      const bool blank = i == text_.size() || text_[i] == ' ' || text_[i] == '\t';
      const bool after_digit = !blank && i > begin && is_digit(text_[i - 1]);
      const bool third_hyphen =
          after_digit && text_[i] == '-' && std::ranges::count(text_.substr(begin, i - begin), '-') == 2;
      const bool between = after_digit && (text_[i] == 'T' || third_hyphen);
      if (!blank && !between) continue;
      if (i > begin) list.push_back(text_.substr(begin, i - begin));
      begin = i + 1;
    }
    return list;
  }

  static bool is_digit(char c) { return c >= '0' && c <= '9'; }

  bool take(std::string_view token) {
    const std::string word = lower(token);
    if (word.starts_with("now")) return take_now(std::string_view(word).substr(3));
    if (word == "today" || word == "tomorrow" || word == "yesterday") {
      return set_day({today_.tm_year + 1900, today_.tm_mon + 1,
                      today_.tm_mday + (word == "tomorrow"    ? 1
                                        : word == "yesterday" ? -1
                                                              : 0),
                      true});
    }
    if (word == "midnight") return set_clock({0, 0, 0});
    if (word == "noon") return set_clock({12, 0, 0});
    if (word == "elevenses") return set_clock({11, 0, 0});
    if (word == "fika") return set_clock({15, 0, 0});
    if (word == "teatime") return set_clock({16, 0, 0});
    if (word == "am" || word == "pm") return take_half(word == "pm");
    if (word.find(':') != std::string::npos) return take_clock(word);
    return take_day(word);
  }

  bool set_day(Day day) {
    if (day_) return false;
    day_ = day;
    return true;
  }
  bool set_clock(Clock clock) {
    if (clock_) return false;
    clock_ = clock;
    return true;
  }

  // "+1hour", "-7days", "+60".
  bool take_now(std::string_view rest) {
    if (relative_) return false;
    if (rest.empty()) {
      relative_ = now_;
      return true;
    }
    const bool minus = rest.front() == '-';
    if (!minus && rest.front() != '+') return false;
    rest.remove_prefix(1);
    const std::size_t end = std::min(rest.find_first_not_of("0123456789"), rest.size());
    const auto count = small_number(rest.substr(0, end));
    if (!count) return false;
    const std::string_view unit = rest.substr(end);
    struct Unit {
      std::string_view name;
      std::int64_t s;
    };
    static constexpr std::array kUnits{Unit{"seconds", 1}, Unit{"minutes", 60}, Unit{"hours", 3600},
                                       Unit{"days", kDay}, Unit{"weeks", 7 * kDay}};
    std::int64_t factor = unit.empty() ? 1 : 0;
    for (const Unit& known : kUnits) {
      if (!unit.empty() && known.name.starts_with(unit)) factor = known.s;
    }
    const std::int64_t at = now_ + (minus ? -1 : 1) * *count * factor;
    if (factor == 0 || at < 0 || at > static_cast<std::int64_t>(kFarthest)) return false;
    relative_ = at;
    return true;
  }

  bool take_half(bool afternoon) {
    if (!clock_ || halved_ || clock_->hour < 1 || clock_->hour > 12) return false;
    halved_ = true;
    clock_->hour = clock_->hour % 12 + (afternoon ? 12 : 0);
    return true;
  }

  bool take_clock(std::string_view text) {
    std::string_view half;
    if (text.ends_with("am") || text.ends_with("pm")) {
      half = text.substr(text.size() - 2);
      text.remove_suffix(2);
    }
    const auto parts = split(text, ':');
    if (parts.size() < 2 || parts.size() > 3) return false;
    std::array<int, 3> n{};
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const auto number = small_number(parts[i]);
      if (!number || parts[i].size() > 2 || *number > (i == 0 ? 23 : 59)) return false;
      n[i] = static_cast<int>(*number);
    }
    return set_clock({n[0], n[1], n[2]}) && (half.empty() || take_half(half == "pm"));
  }

  bool take_day(std::string_view text) {
    const auto number = [](std::string_view part, int low, int high) -> std::optional<int> {
      const auto n = small_number(part);
      if (!n || *n < low || *n > high) return std::nullopt;
      return static_cast<int>(*n);
    };
    std::optional<int> year;
    std::optional<int> month;
    std::optional<int> day;
    std::string_view year_text;
    const auto dashes = split(text, '-');
    const char mark = text.find('/') != std::string_view::npos ? '/' : '.';
    const auto parts = split(text, mark);
    if (dashes.size() == 3 && dashes[0].size() == 4) {
      year_text = dashes[0];
      month = number(dashes[1], 1, 12);
      day = number(dashes[2], 1, 31);
    } else if (parts.size() == 2 || parts.size() == 3) {
      month = number(parts[0], 1, 12);
      day = number(parts[1], 1, 31);
      if (parts.size() == 3) year_text = parts[2];
      if (parts.size() == 3 && year_text.empty()) return false;
    } else if (text.size() == 4 || text.size() == 6) {
      month = number(text.substr(0, 2), 1, 12);
      day = number(text.substr(2, 2), 1, 31);
      year_text = text.substr(4);
    }
    if (!month || !day) return false;
    if (!year_text.empty()) {
      year = number(year_text, 0, 9999);
      if (!year || (year_text.size() != 2 && year_text.size() != 4)) return false;
      if (year_text.size() == 2) *year += 2000;
      if (*year < 1970) return false;
    }
    return set_day({year.value_or(today_.tm_year + 1900), *month, *day, year.has_value()});
  }

  [[nodiscard]] std::int64_t unix_of(const Day& day, const Clock& clock) const {
    std::tm fields{};
    fields.tm_year = day.year - 1900;
    fields.tm_mon = day.month - 1;
    fields.tm_mday = day.day;
    fields.tm_hour = clock.hour;
    fields.tm_min = clock.minute;
    fields.tm_sec = clock.second;
    return zone_.unix(fields);
  }

  // Completes what wasn't said, towards the future or the past.
  [[nodiscard]] Result<std::int64_t> settle() const {
    const Clock clock = clock_.value_or(Clock{0, 0, 0});
    Day day = day_.value_or(Day{today_.tm_year + 1900, today_.tm_mon + 1, today_.tm_mday, true});
    std::int64_t at = unix_of(day, clock);
    const bool late = lean_ == Lean::ahead ? at < now_ : at > now_;
    const int step = lean_ == Lean::ahead ? 1 : -1;
    if (late && !day_ && lean_ == Lean::ahead) {
      day.day += step;
      at = unix_of(day, clock);
    } else if (late && day_ && !day_->has_year) {
      day.year += step;
      at = unix_of(day, clock);
    }
    return at;
  }

  std::string_view text_;
  std::int64_t now_;
  const Zone& zone_;
  Lean lean_;
  std::tm today_;
  std::optional<std::int64_t> relative_;
  std::optional<Day> day_;
  std::optional<Clock> clock_;
  bool halved_ = false;
};

}  // namespace

Result<std::int64_t> parse_when(std::string_view text, std::int64_t now, const Zone& zone, Lean lean) {
  return WhenParser(trim(text), now, zone, lean).run();
}

}  // namespace drover::slurm
