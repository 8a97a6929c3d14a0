#include "agent/pod/log.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "os/file.h"
#include "os/temp_folder.h"

namespace drover::agent {
namespace {

struct Logs : ::testing::Test {
  void write(const std::string& text, const std::string& name = "0.log") {
    std::ofstream(folder.path(name), std::ios::app) << text;
  }
  static std::string line(int second, const std::string& text, const char* stream = "stdout", const char* tag = "F") {
    return "2026-12-01T00:00:0" + std::to_string(second) + ".5Z " + stream + " " + tag + " " + text + "\n";
  }
  std::string read(const LogWish& wish = {}) {
    auto reader = LogReader::open(folder.path("0.log"), wish);
    if (!reader) return "(" + reader.error().message + ")";
    std::string all;
    [[maybe_unused]] const bool more = reader->read([&](bool error, std::string_view bytes) {
      all += (error ? "!" : "") + std::string(bytes);
      return true;
    });
    return all;
  }
  TempFolder folder;
};

TEST_F(Logs, LinesPartsAndStreamsAreReadBack) {
  write(line(1, "one") + line(2, "lo", "stdout", "P") + line(2, "ng") + line(3, "err", "stderr") + "rubbish\n");
  EXPECT_EQ(read(), "one\nlong\n!err\n");
  EXPECT_EQ(read({.timestamps = true}), "2026-12-01T00:00:01.5Z one\n2026-12-01T00:00:02.5Z long\n"
                                        "!2026-12-01T00:00:03.5Z err\n");
  EXPECT_EQ(read({.tail = 2}), "long\n!err\n");
  EXPECT_EQ(read({.tail = 0}), "");
  EXPECT_EQ(read({.most = 6}), "one\nlo");
  EXPECT_EQ(read({.since = *parse_log_time("2026-12-01T00:00:03Z")}), "!err\n");
}

TEST_F(Logs, TimesOfAllZonesAreMoments) {
  const auto at = parse_log_time("2026-12-01T00:00:00.25Z");
  ASSERT_TRUE(at);
  EXPECT_EQ(at->time_since_epoch().count(), 1'796'083'200'250);
  EXPECT_EQ(parse_log_time("2026-12-01T02:30:00.250999999+02:30"), at);
  for (const char* bad : {"", "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z", "2026-12-01T00:00:00"}) {
    EXPECT_FALSE(parse_log_time(bad)) << bad;
  }
}

TEST_F(Logs, FilesThatWereMovedAwayAreReadFirstAndTheNewOneIsFollowed) {
  write(line(1, "a"), "0.log.1");
  write(line(2, "b"), "0.log.2");
  write(line(3, "c"));
  auto reader = LogReader::open(folder.path("0.log"), {.tail = 2});
  std::string all;
  const auto take = [&](bool, std::string_view bytes) {
    all += bytes;
    return true;
  };
  EXPECT_TRUE(reader->read(take));
  EXPECT_EQ(all, "b\nc\n");
  write(line(4, "d"));
  std::filesystem::rename(folder.path("0.log"), folder.path("0.log.3"));
  write(line(5, "e"));
  EXPECT_TRUE(reader->read(take));
  EXPECT_EQ(all, "b\nc\nd\ne\n");
}

TEST_F(Logs, ALargeOneIsMovedAwayAndTheOldestGoes) {
  EXPECT_FALSE(rotate_log(folder.path("0.log")));
  for (int i = 0; i < 7; ++i) {
    std::filesystem::resize_file((write(" "), folder.path("0.log")), static_cast<std::uintmax_t>(kLogSize));
    EXPECT_TRUE(rotate_log(folder.path("0.log")));
  }
  write(line(1, "x"));
  EXPECT_EQ(log_files(folder.path("0.log")).size(), kLogFiles);
  EXPECT_TRUE(file_exists(folder.path("0.log.7")));
}

TEST_F(Logs, WithoutAFileThereIsNone) {
  EXPECT_EQ(read(), "(there is no log)");
  EXPECT_EQ(log_tail(folder.path("0.log"), 10, 100), "");
  write(line(1, "abcdef"));
  EXPECT_EQ(log_tail(folder.path("0.log"), 10, 4), "def\n");
}

}  // namespace
}  // namespace drover::agent
