// Logs of containers as container runtimes write them, a line each: "TIME stdout F text". A line that was
// longer than the writer's buffer comes in parts (P), the last of which has an F.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "os/fd.h"

namespace drover::agent {

inline constexpr std::int64_t kLogSize = 10 << 20;  // bytes of one file
inline constexpr std::size_t kLogFiles = 5;         // of one run of a container, the one that is written included

struct LogLine {
  std::string_view time;  // "2026-12-01T10:00:00.123456789Z"
  bool error = false;     // of the standard error
  bool whole = true;      // ends a line of the program's
  std::string_view text;
};
// Nothing: not such a line.
[[nodiscard]] std::optional<LogLine> parse_log_line(std::string_view line);
// The moment of such a time, rounded down.
[[nodiscard]] std::optional<Instant> parse_log_time(std::string_view text);

struct LogWish {
  bool timestamps = false;
  std::int64_t tail = -1;   // lines from the end; -1: all
  Instant since;
  std::uint64_t most = 0;   // bytes; 0: no bound
};

// Reads one run's log: first the files that were moved away, then the one that is written, going on where
// it had stopped.
class LogReader {
 public:
  // `path` is the file that is written; not_found: there is none.
  [[nodiscard]] static Result<LogReader> open(std::string path, const LogWish& wish);

  // What has come since; false from `take` means that it wants no more. False: enough has been given.
  using Take = std::function<bool(bool error, std::string_view bytes)>;
  [[nodiscard]] bool read(const Take& take);

 private:
  LogReader(std::string path, const LogWish& wish) : path_(std::move(path)), wish_(wish) {}
  bool read_file(const Take& take);
  bool give(std::string_view line, const Take& take);

  std::string path_;
  LogWish wish_;
  std::vector<std::string> earlier_;  // files, oldest first
  Fd file_;
  std::string partial_;
  bool inside_line_ = false;     // its beginning has been given
  std::int64_t skip_ = 0;        // whole lines, for the tail
  std::uint64_t given_ = 0;
};

// The files of a run, oldest first, the one that is written last.
[[nodiscard]] std::vector<std::string> log_files(const std::string& path);
// Moves a file that has become too large aside, and drops the oldest. True: its writer has to reopen it.
[[nodiscard]] bool rotate_log(const std::string& path);
// The end of a log as one text, without times: at most so many lines and bytes.
[[nodiscard]] std::string log_tail(const std::string& path, std::int64_t lines, std::size_t bytes);

}  // namespace drover::agent
