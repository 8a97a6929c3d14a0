// What the SQLite log promises beyond the contract: it outlives its process, knows its own past, and
// copes with a full disk.
#include "store/sqlite/sqlite_log.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <future>

#include "os/file.h"
#include "os/temp_folder.h"
#include "store/chain.h"

namespace drover::store {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<SqliteLog> open_log(const std::string& folder, std::uint64_t reserve = 0) {
  auto log = SqliteLog::open({.folder = folder, .reserve_bytes = reserve});
  if (!log) {
    ADD_FAILURE() << log.error().message;
    std::abort();
  }
  return std::move(log).value();
}

std::string refusal(const std::string& folder) {
  const auto log = SqliteLog::open({.folder = folder, .reserve_bytes = 0});
  return log ? "" : log.error().message;
}

Appended append(Log& log, std::uint64_t position, std::string fact = "fact", std::vector<Payload> payloads = {}) {
  std::promise<Appended> promise;
  log.append({{{.position = position, .epoch = 1, .facts = {std::move(fact)}}}, std::move(payloads)},
             [&](const Appended& result) { promise.set_value(result); });
  return promise.get_future().get();
}

void fill(Log& log, std::uint64_t first, std::uint64_t last) {
  for (std::uint64_t p = first; p <= last; ++p) ASSERT_EQ(append(log, p).outcome, Outcome::stored);
}

// Runs `work` in a child; what it returned, or 128 + its signal.
template <class Work>
int in_child(Work work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work());
  int status = 0;
  CHECK(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

class SqliteLogTest : public testing::Test {
 protected:
  TempFolder temp_;
  const std::string folder_ = temp_.path("state");
};

TEST_F(SqliteLogTest, KeepsAllOverAClose) {
  std::string cluster;
  Head head;
  {
    const auto log = open_log(folder_);
    cluster = log->cluster();
    EXPECT_EQ(cluster.size(), 32U);
    ASSERT_EQ(append(*log, 1, "a", {{sha256("script"), "script"}}).outcome, Outcome::stored);
    fill(*log, 2, 20);
    ASSERT_TRUE(log->write_snapshot(10, "ten", {sha256("script")}));
    ASSERT_TRUE(log->write_snapshot(15, "fifteen", {sha256("script")}));
    ASSERT_TRUE(log->trim(11));
    head = log->head();
  }
  const auto log = open_log(folder_);
  EXPECT_EQ(log->cluster(), cluster);
  EXPECT_EQ(log->head(), head);
  EXPECT_EQ(log->first(), 11U);
  EXPECT_EQ(*log->payload(sha256("script")), "script");
  EXPECT_EQ((*log->latest_snapshot())->bytes, "fifteen");
  EXPECT_EQ(append(*log, 21).outcome, Outcome::stored);
}

TEST_F(SqliteLogTest, TwoLogsAreTwoClusters) {
  EXPECT_NE(open_log(folder_)->cluster(), open_log(temp_.path("other"))->cluster());
}

TEST_F(SqliteLogTest, IsHeldByOneProcess) {
  const auto log = open_log(folder_);
  const std::string why = refusal(folder_);
  EXPECT_NE(why.find("another droverd uses " + folder_), std::string::npos) << why;
  EXPECT_NE(why.find("process " + std::to_string(::getpid())), std::string::npos) << why;
  // Nor does a stranger's tool get in.
  const int code = in_child([&] {
    auto database = Database::open(folder_ + "/log.db", false);
    return database && database->ask("SELECT count(*) FROM records") ? 0 : 7;
  });
  EXPECT_EQ(code, 7);
}

TEST_F(SqliteLogTest, AnotherFormatIsRefusedWithAWord) {
  open_log(folder_).reset();
  ASSERT_TRUE(Database::open(folder_ + "/log.db", false)->run("UPDATE meta SET format = 3"));
  const std::string why = refusal(folder_);
  EXPECT_NE(why.find("it is of format 3, this drover reads format 0 only"), std::string::npos) << why;
}

TEST_F(SqliteLogTest, AnOlderCopyOfTheLogAloneIsRefused) {
  fill(*open_log(folder_), 1, 10);
  fs::copy(folder_ + "/log.db", temp_.path("old.db"));
  fill(*open_log(folder_), 11, 20);
  fs::copy(temp_.path("old.db"), folder_ + "/log.db", fs::copy_options::overwrite_existing);
  const std::string why = refusal(folder_);
  EXPECT_NE(why.find("ends at position 10 but the file head says 20"), std::string::npos) << why;
}

TEST_F(SqliteLogTest, AnOlderCopyOfTheFolderIsFoundOutByWhatOthersSaw) {
  fill(*open_log(folder_), 1, 10);
  fs::copy(folder_, temp_.path("backup"));
  Head seen;
  {
    const auto log = open_log(folder_);
    fill(*log, 11, 12);
    seen = log->head();
  }
  const auto restored = open_log(temp_.path("backup"));
  EXPECT_FALSE(restored->check_seen(seen.position, seen.hash));
  ASSERT_EQ(append(*restored, 11, "another story").outcome, Outcome::stored);
  ASSERT_EQ(append(*restored, 12, "another story").outcome, Outcome::stored);
  const Status other = restored->check_seen(seen.position, seen.hash);
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("another record at position 12"), std::string::npos) << other.error().message;
}

TEST_F(SqliteLogTest, ALostFileIsRefused) {
  fill(*open_log(folder_), 1, 3);
  fs::rename(folder_ + "/head", temp_.path("head"));
  EXPECT_NE(refusal(folder_).find("/head: it is missing"), std::string::npos) << refusal(folder_);
  fs::rename(temp_.path("head"), folder_ + "/head");
  fs::remove(folder_ + "/log.db");
  EXPECT_NE(refusal(folder_).find("/log.db: it is missing, but head says that it ends at position 3"),
            std::string::npos);
  std::ofstream(folder_ + "/log.db").flush();
  EXPECT_NE(refusal(folder_).find("/log.db: it is empty"), std::string::npos) << refusal(folder_);
}

TEST_F(SqliteLogTest, ACrashWithinTheFirstStartLeavesNothingInTheWay) {
  open_log(folder_).reset();
  fs::remove(folder_ + "/log.db");  // as killed between head and log
  EXPECT_EQ(append(*open_log(folder_), 1).outcome, Outcome::stored);
}

TEST_F(SqliteLogTest, TheWriteAheadLogStaysSmall) {
  const auto log = open_log(folder_);
  for (std::uint64_t p = 1; p <= 1500; ++p) ASSERT_EQ(append(*log, p, std::string(4000, 'x')).outcome, Outcome::stored);
  EXPECT_LT(fs::file_size(folder_ + "/log.db-wal"), 4U << 20);
  EXPECT_GT(fs::file_size(folder_ + "/log.db"), 5U << 20);
}

TEST_F(SqliteLogTest, ReadsFromOtherThreadsAndFromAnswersDoNotHinderAppends) {
  const auto log = open_log(folder_);
  fill(*log, 1, 100);
  std::promise<std::size_t> within;
  log->append({{{.position = 101, .epoch = 1}}, {}}, [&](const Appended&) {
    std::size_t count = 0;
    EXPECT_TRUE(log->read(1, [&](const Record&) { return ++count, true; }));
    within.set_value(count);
  });
  EXPECT_EQ(within.get_future().get(), 101U);
}

// The kill comes at any instant: whatever was answered before is there after.
TEST_F(SqliteLogTest, AKilledProcessLosesNothingThatWasAnswered) {
  open_log(folder_).reset();
  std::uint64_t position = 0;
  for (int round = 0; round < 12; ++round) {
    int pipe[2];
    ASSERT_EQ(::pipe(pipe), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      auto log = SqliteLog::open({.folder = folder_, .reserve_bytes = 0, .checkpoint_pages = 8});
      if (!log) ::_exit(1);
      for (std::uint64_t p = (*log)->head().position + 1;; ++p) {
        (*log)->append({{{.position = p, .epoch = 1, .facts = {std::to_string(p)}}}, {}},
                       [&](const Appended& result) {
                         const std::uint64_t stored = result.outcome == Outcome::stored ? result.head.position : 0;
                         if (::write(pipe[1], &stored, sizeof stored) < 0) ::_exit(2);
                       });
        if (p % 50 == 0) ::usleep(1000);
      }
    }
    ::close(pipe[1]);
    std::uint64_t answered = 0;
    for (std::uint64_t stored = 0; ::read(pipe[0], &stored, sizeof stored) == sizeof stored;) {
      ASSERT_GT(stored, 0U);
      answered = stored;
      if (answered == position + 40 + static_cast<std::uint64_t>(round) * 13) ::kill(child, SIGKILL);
    }
    ::close(pipe[0]);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    const auto log = open_log(folder_);
    position = log->head().position;
    ASSERT_GE(position, answered);
    std::uint64_t expected = 0;
    ASSERT_TRUE(log->read(1, [&](const Record& r) {
      EXPECT_EQ(r.facts.front(), std::to_string(++expected));
      return true;
    }));
    ASSERT_EQ(expected, position);
  }
}

// A file that may not grow stands for a failing disk: the write fails for another reason than space.
TEST_F(SqliteLogTest, AFailedWriteBreaksTheLogForGood) {
  const int code = in_child([&] {
    const auto log = open_log(folder_);
    if (append(*log, 1).outcome != Outcome::stored) return 1;
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 64 << 10, .rlim_max = RLIM_INFINITY};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const Appended failed = append(*log, 2, std::string(1 << 20, 'x'));
    const rlimit none{.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
    ::setrlimit(RLIMIT_FSIZE, &none);
    if (failed.outcome != Outcome::unknown || failed.head.position != 1) return 2;
    const Appended after = append(*log, 2);
    if (after.outcome != Outcome::unknown || after.error.find("the log is broken") == std::string::npos) return 3;
    return log->trim(1) ? 4 : 0;
  });
  EXPECT_EQ(code, 0);
  EXPECT_EQ(open_log(folder_)->head().position, 1U);
}

constexpr int kNoMount = 77;

// A tmpfs of 8 MiB that only this child sees, and a log on it.
std::unique_ptr<SqliteLog> log_on_a_small_disk(const std::string& mount) {
  const bool mounted = ::unshare(CLONE_NEWNS) == 0 &&
                       ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                       ::mount("tmpfs", mount.c_str(), "tmpfs", 0, "size=8m") == 0;
  return mounted ? open_log(mount + "/state", 16 << 20) : nullptr;
}

void fill_disk(const std::string& mount, std::uint64_t leave) {
  std::ofstream hog(mount + "/hog", std::ios::app);
  const std::string block(4096, 'h');
  while (disk_space(mount)->free > leave && hog << block << std::flush) {
  }
}

bool is_low(const Log& log) {
  ::usleep(30'000);
  return log.space().low;
}

// Facts go in from the reserve, the state is said, and service resumes.
int life_on_a_full_disk(const std::string& mount) {
  const auto log = log_on_a_small_disk(mount);
  if (!log) return kNoMount;
  if (is_low(*log) || log->space().reserve_bytes != 1 << 20) return 1;
  if (append(*log, 1).outcome != Outcome::stored) return 2;
  fill_disk(mount, 0);
  if (!is_low(*log)) return 3;
  std::uint64_t p = 2;
  for (; p < 300; ++p) {
    if (append(*log, p, std::string(200, 'f')).outcome != Outcome::stored) return 4;
  }
  if (!is_low(*log) || log->space().reserve_bytes != 0) return 5;
  const Status refused = log->write_snapshot(100, std::string(1 << 20, 's'), {});
  if (refused || refused.error().code != Errc::exhausted) return 6;
  fs::remove(mount + "/hog");
  for (int i = 0; i < 30 && is_low(*log); ++i) ::usleep(100'000);
  if (is_low(*log) || log->space().reserve_bytes != 1 << 20) return 7;
  if (append(*log, p).outcome != Outcome::stored) return 8;
  return log->write_snapshot(100, std::string(1 << 20, 's'), {}) ? 0 : 9;
}

// A record that the free space doesn't hold, though more is left than makes the log give up its reserve
// beforehand; and then one that nothing holds.
int a_large_record_on_a_full_disk(const std::string& mount) {
  const auto log = log_on_a_small_disk(mount);
  if (!log) return kNoMount;
  fill_disk(mount, 700 << 10);
  if (!is_low(*log) || log->space().reserve_bytes == 0) return 1;
  const Payload script{.hash = sha256("script"), .bytes = "script"};
  if (append(*log, 1, std::string(900 << 10, 'r'), {script}).outcome != Outcome::stored) return 2;
  if (!log->payload(script.hash)) return 7;
  if (log->space().reserve_bytes != 0) return 3;
  const Appended failed = append(*log, 2, std::string(4 << 20, 'r'));
  if (failed.outcome != Outcome::unknown || failed.error.find("no space left") == std::string::npos) return 4;
  if (append(*log, 2).outcome != Outcome::unknown) return 5;
  std::size_t records = 0;
  const Status read = log->read(1, [&](const Record&) { return ++records, true; });
  return read && records == 1 ? 0 : 6;
}

class FullDisk : public SqliteLogTest, public testing::WithParamInterface<int (*)(const std::string&)> {};
TEST_P(FullDisk, IsSaidSurvivedAndForgotten) {
  if (::geteuid() != 0) GTEST_SKIP() << "mounting needs root";
  fs::create_directories(temp_.path("mount"));
  const int code = in_child([&] { return GetParam()(temp_.path("mount")); });
  if (code == kNoMount) GTEST_SKIP() << "no mount namespace here";
  EXPECT_EQ(code, 0);
}
INSTANTIATE_TEST_SUITE_P(Log, FullDisk, testing::Values(life_on_a_full_disk, a_large_record_on_a_full_disk));

}  // namespace
}  // namespace drover::store
