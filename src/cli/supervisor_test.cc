#include "cli/supervisor.h"

#include <gtest/gtest.h>

#include <csignal>
#include <thread>

#include "base/text.h"
#include "cli/table.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/temp_folder.h"

namespace drover::cli {
namespace {

struct Watched {
  TempFolder folder;
  std::vector<std::string> said;
  Supervisor supervisor;

  explicit Watched(const std::string& script)
      : supervisor({{.name = "d", .argv = {"/bin/sh", "-c", script, folder.path()}, .log = folder.path("d.log")}},
                   [this](const std::string& line) { said.push_back(line); }) {}

  // Tends until `done`, for at most ten seconds.
  template <class Until>
  bool tend_until(Until done) {
    const Duration end = since_boot() + seconds(10);
    while (since_boot() < end) {
      supervisor.tend(since_boot());
      if (done()) return true;
      std::this_thread::sleep_for(Duration(5));
    }
    return false;
  }
  [[nodiscard]] pid_t pid() const {
    const auto text = read_file(folder.path("pid"));
    return text ? static_cast<pid_t>(parse_int(trim(*text)).value_or(0)) : 0;
  }
};

constexpr const char* kDaemon = "echo $$ > $0/pid.new; mv $0/pid.new $0/pid; exec sleep 100";

TEST(Supervisor, ADaemonThatIsKilledStartsAgainAndItIsSaid) {
  Watched watched(kDaemon);
  ASSERT_TRUE(watched.tend_until([&] { return watched.pid() != 0; }));
  const pid_t first = watched.pid();
  ::kill(first, SIGKILL);
  ASSERT_TRUE(watched.tend_until([&] { return watched.pid() != first; }));
  ASSERT_EQ(watched.said.size(), 1U);
  EXPECT_EQ(watched.said[0], "d was killed by SIGKILL; starting it again at once");
  EXPECT_EQ(watched.supervisor.hopeless(), nullptr);
  const pid_t second = watched.pid();
  watched.supervisor.stop(seconds(5));
  EXPECT_EQ(::kill(second, 0), -1) << "it is gone";
  EXPECT_EQ(watched.said.size(), 1U);
}

TEST(Supervisor, OneThatIgnoresTermIsKilledAfterPatience) {
  Watched watched("trap '' TERM; echo $$ > $0/pid.new; mv $0/pid.new $0/pid; while :; do sleep 0.1; done");
  ASSERT_TRUE(watched.tend_until([&] { return watched.pid() != 0; }));
  const pid_t pid = watched.pid();
  watched.supervisor.stop(Duration(100));
  EXPECT_EQ(::kill(pid, 0), -1);
  EXPECT_EQ(watched.said.back(), "d doesn't end; killing it");
}

TEST(Supervisor, ThreeEarlyEndsAreHopelessAndTheLogSaysWhy) {
  Watched watched("echo first; echo no store; exit 3");
  ASSERT_TRUE(watched.tend_until([&] { return watched.supervisor.hopeless() != nullptr; }));
  EXPECT_EQ(watched.said[0], "d ended with exit code 3; starting it again at once");
  EXPECT_EQ(tail_of(watched.folder.path("d.log"), 1), "no store");
}

TEST(Supervisor, ARefusalIsHopelessAtOnceButTriedAgainLater) {
  Watched watched("exit 2");
  ASSERT_TRUE(watched.tend_until([&] { return watched.supervisor.hopeless() != nullptr; }));
  EXPECT_EQ(watched.said.size(), 1U);
  EXPECT_EQ(watched.said[0], "d ended with exit code 2; starting it again in 30 s");
}

TEST(Supervisor, AMissingProgramIsToldInItsLog) {
  TempFolder folder;
  Supervisor supervisor({{.name = "d", .argv = {"/no/such"}, .log = folder.path("log")}}, [](const std::string&) {});
  const Duration end = since_boot() + seconds(10);
  while (supervisor.hopeless() == nullptr && since_boot() < end) supervisor.tend(since_boot());
  EXPECT_NE(tail_of(folder.path("log"), 1).find("can't be started"), std::string::npos);
}

TEST(Supervisor, PausesGrowToHalfAMinute) {
  EXPECT_EQ(pause_before(1), Duration(200));
  EXPECT_EQ(pause_before(2), Duration(400));
  EXPECT_EQ(pause_before(50), seconds(30));
}

TEST(Supervisor, TheTailOfALogIsItsLastLines) {
  TempFolder folder;
  EXPECT_EQ(tail_of(folder.path("none"), 2), "");
  for (const std::string text : {"a\nb\nc\n", "a\nb\nc", "b\nc"}) {
    ASSERT_TRUE(write_file_durably(folder.path("log"), text).has_value());
    EXPECT_EQ(tail_of(folder.path("log"), 2), "b\nc") << text;
  }
}

TEST(Table, ColumnsAlignWhateverTheColours) {
  const Ink ink(true);
  EXPECT_EQ(table({{"node", "state"}, {"n1", ink.good("up")}, {"longer", "x"}}),
            "  node    state\n  n1      \x1b[32mup\x1b[0m\n  longer  x\n");
  EXPECT_EQ(Ink(false).bad("x"), "x");
}

}  // namespace
}  // namespace drover::cli
