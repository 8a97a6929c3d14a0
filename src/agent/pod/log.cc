#include "agent/pod/log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "base/text.h"
#include "os/file.h"

namespace drover::agent {
namespace {

constexpr std::size_t kPiece = std::size_t{64} << 10U;
constexpr std::size_t kLongestLine = std::size_t{1} << 20U;

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }
std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// Nothing but digits behind "RUN.log.".
std::optional<std::uint64_t> age_number(const std::string& name, const std::string& current) {
  if (!name.starts_with(current + ".")) return std::nullopt;
  return parse_uint(std::string_view(name).substr(current.size() + 1));
}

// Days since 1970 of a date of the Gregorian calendar.
std::optional<std::int64_t> days_of(std::int64_t year, std::int64_t month, std::int64_t day) {
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(year)),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date).time_since_epoch().count();
}

std::optional<std::int64_t> part(std::string_view text, std::size_t at, std::size_t length) {
  if (text.size() < at + length) return std::nullopt;
  return parse_int(text.substr(at, length));
}

// What runtimes write of another zone than UTC: "+02:00".
std::optional<std::int64_t> zone_seconds(std::string_view text) {
  if (text == "Z") return 0;
  const auto hours = part(text, 1, 2);
  const auto minutes = part(text, 4, 2);
  if (text.size() != 6 || !hours || !minutes || (text[0] != '+' && text[0] != '-')) return std::nullopt;
  return (*hours * 3600 + *minutes * 60) * (text[0] == '-' ? -1 : 1);
}

}  // namespace

std::optional<LogLine> parse_log_line(std::string_view line) {
  const std::size_t first = line.find(' ');
  if (first == std::string_view::npos) return std::nullopt;
  const std::size_t second = line.find(' ', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  const std::size_t third = line.find(' ', second + 1);
  if (third == std::string_view::npos) return std::nullopt;
  const std::string_view stream = line.substr(first + 1, second - first - 1);
  if (stream != "stdout" && stream != "stderr") return std::nullopt;
  const std::string_view tags = line.substr(second + 1, third - second - 1);
  return LogLine{.time = line.substr(0, first),
                 .error = stream == "stderr",
                 .whole = tags.substr(0, tags.find(':')) != "P",
                 .text = line.substr(third + 1)};
}

std::optional<Instant> parse_log_time(std::string_view text) {
  const auto year = part(text, 0, 4);
  const auto month = part(text, 5, 2);
  const auto day = part(text, 8, 2);
  const auto hour = part(text, 11, 2);
  const auto minute = part(text, 14, 2);
  const auto second = part(text, 17, 2);
  if (!year || !month || !day || !hour || !minute || !second || *month < 1 || *day < 1) return std::nullopt;
  std::string_view rest = text.substr(19);
  std::int64_t ms = 0;
  if (rest.starts_with('.')) {
    const std::size_t end = std::min(rest.find_first_not_of("0123456789", 1), rest.size());
    std::string digits(rest.substr(1, std::min<std::size_t>(end - 1, 3)));
    digits.resize(3, '0');
    ms = parse_int(digits).value_or(0);
    rest.remove_prefix(end);
  }
  const auto zone = zone_seconds(rest);
  const auto days = days_of(*year, *month, *day);
  if (!zone || !days) return std::nullopt;
  return Instant(seconds(*days * 86'400 + *hour * 3600 + *minute * 60 + *second - *zone) + milliseconds(ms));
}

std::vector<std::string> log_files(const std::string& path) {
  std::vector<std::pair<std::uint64_t, std::string>> aged;
  const auto names = list_folder(folder_of(path));
  if (!names) return {};
  bool current = false;
  for (const std::string& name : *names) {
    current = current || name == name_of(path);
    if (const auto number = age_number(name, name_of(path))) aged.emplace_back(*number, name);
  }
  std::ranges::sort(aged);
  std::vector<std::string> files;
  for (const auto& [number, name] : aged) files.push_back(folder_of(path) + "/" + name);
  if (current) files.push_back(path);
  return files;
}

bool rotate_log(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0 || info.st_size < kLogSize) return false;
  auto files = log_files(path);
  std::uint64_t next = 1;
  for (const std::string& file : files) {
    if (const auto number = age_number(name_of(file), name_of(path))) next = std::max(next, *number + 1);
  }
  if (std::rename(path.c_str(), (path + "." + std::to_string(next)).c_str()) != 0) return false;
  for (std::size_t i = 0; i + kLogFiles <= files.size(); ++i) {
    [[maybe_unused]] const Status gone = remove_file(files[i]);
  }
  return true;
}

Result<LogReader> LogReader::open(std::string path, const LogWish& wish) {
  LogReader reader(std::move(path), wish);
  auto files = log_files(reader.path_);
  if (files.empty()) return Error{Errc::not_found, "there is no log"};
  if (files.back() == reader.path_) {
    reader.file_ = TRY(open_file(reader.path_, O_RDONLY | O_NOFOLLOW));
    files.pop_back();
  }
  reader.earlier_ = std::move(files);
  if (wish.tail < 0) return reader;
  // Counted by reading: logs are small, and their lines aren't of one length.
  std::int64_t lines = 0;
  LogReader counter(reader.path_, {.timestamps = false, .tail = -1, .since = wish.since, .most = 0});
  counter.earlier_ = reader.earlier_;
  if (reader.file_) counter.file_ = TRY(open_file(reader.path_, O_RDONLY | O_NOFOLLOW));
  [[maybe_unused]] const bool all = counter.read([&](bool, std::string_view bytes) {
    lines += bytes.ends_with('\n') ? 1 : 0;
    return true;
  });
  reader.skip_ = std::max<std::int64_t>(0, lines - wish.tail);
  return reader;
}

bool LogReader::read(const Take& take) {
  while (!earlier_.empty()) {
    auto old = open_file(earlier_.front(), O_RDONLY | O_NOFOLLOW);
    earlier_.erase(earlier_.begin());
    if (!old) continue;  // dropped meanwhile
    Fd current = std::exchange(file_, std::move(*old));
    const bool more = read_file(take);
    file_ = std::move(current);
    partial_.clear();
    if (!more) return false;
  }
  if (file_ && !read_file(take)) return false;
  // Moved away since: the rest of it has been read, what comes now is in the new one.
  struct stat mine{};
  struct stat theirs{};
  if (::stat(path_.c_str(), &theirs) != 0) return true;
  if (file_ && ::fstat(file_.get(), &mine) == 0 && mine.st_ino == theirs.st_ino) return true;
  if (auto fresh = open_file(path_, O_RDONLY | O_NOFOLLOW)) {
    if (file_ && !read_file(take)) return false;
    file_ = std::move(*fresh);
    partial_.clear();
    return read_file(take);
  }
  return true;
}

bool LogReader::read_file(const Take& take) {
  std::vector<char> piece(kPiece);
  for (;;) {
    const ssize_t n = ::read(file_.get(), piece.data(), piece.size());
    if (n <= 0) return true;
    partial_.append(piece.data(), static_cast<std::size_t>(n));
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = partial_.find('\n', begin)) != std::string::npos; begin = end + 1) {
      if (!give(std::string_view(partial_).substr(begin, end - begin), take)) return false;
    }
    partial_.erase(0, begin);
    if (partial_.size() > kLongestLine) partial_.clear();
  }
}

bool LogReader::give(std::string_view line, const Take& take) {
  const auto parsed = parse_log_line(line);
  if (!parsed) return true;
  if (wish_.since != Instant{} && !inside_line_) {
    const auto at = parse_log_time(parsed->time);
    if (at && *at < wish_.since) return true;
  }
  if (skip_ > 0) {
    skip_ -= parsed->whole ? 1 : 0;
    return true;
  }
  std::string bytes;
  if (wish_.timestamps && !inside_line_) bytes = std::string(parsed->time) + " ";
  bytes += parsed->text;
  if (parsed->whole) bytes += '\n';
  inside_line_ = !parsed->whole;
  if (wish_.most > 0 && given_ + bytes.size() >= wish_.most) {
    bytes.resize(wish_.most - given_);
    given_ = wish_.most;
    [[maybe_unused]] const bool last = take(parsed->error, bytes);
    return false;
  }
  given_ += bytes.size();
  return take(parsed->error, bytes);
}

std::string log_tail(const std::string& path, std::int64_t lines, std::size_t bytes) {
  auto reader = LogReader::open(path, {.timestamps = false, .tail = lines, .since = {}, .most = 0});
  if (!reader) return {};
  std::string text;
  [[maybe_unused]] const bool all = reader->read([&](bool, std::string_view piece) {
    text += piece;
    return true;
  });
  return text.size() > bytes ? text.substr(text.size() - bytes) : text;
}

}  // namespace drover::agent
