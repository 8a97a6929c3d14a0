// Real steps: what their tasks write and read, how they end, and who may vanish in between.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "agent/shim/key.h"
#include "agent/step/output.h"
#include "agent/step/task.h"
#include "agent/step/testing.h"
#include "base/text.h"
#include "relay/opening.h"

namespace drover::agent {
namespace {

constexpr std::uint32_t kNobody = 65534;

class Step : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    if (node_.driver().cgroups().backend() == Backend::none) GTEST_SKIP() << "needs cgroups";
  }
  void start(const PartSpec& spec, const std::string& key = "1.0.0") {
    const Status started = node_.driver().start_part(key, spec);
    ASSERT_TRUE(started.has_value()) << started.error().message;
  }
  Ended ended(const std::string& key = "1.0.0") {
    return node_.wait(key, AttemptState::ended).ended.value_or(Ended{});
  }
  [[nodiscard]] static bool alive(std::int64_t pid) {
    const auto stat = read_file("/proc/" + std::to_string(pid) + "/stat");
    return stat && stat->find(") Z ") == std::string::npos;
  }
  [[nodiscard]] bool group_left(const std::string& name) const {
    for (const char* controller : {"memory/", "unified/", "pids/", "cpuset/", ""}) {
      if (file_exists("/sys/fs/cgroup/" + std::string(controller) + node_.options().cgroup_root +
                      "/" + name))
        return true;
    }
    return false;
  }

  testing::Node node_;
  testing::StepClient client_{node_, "1.0.0"};
};

TEST(StepFrames, AnOutputFrameIsWhatTheEncoderWrites) {
  for (const std::string& bytes : {std::string("x"), std::string(200, 'y'), std::string(70'000, 'z')}) {
    std::string framed(kOutputPrefix, '\0');
    framed += bytes;
    frame_output(framed, 300, StepChannel::err);
    std::string_view rest = framed;
    bool whole = false;
    const auto message = take_frame(rest, whole);
    ASSERT_TRUE(message.has_value() && whole);
    const auto down = decode<StepDown>(*message);
    ASSERT_TRUE(down.has_value());
    const auto& output = std::get<StepOutput>(*down);
    EXPECT_EQ(output.task, 300U);
    EXPECT_EQ(output.channel, StepChannel::err);
    EXPECT_EQ(output.bytes, bytes);
  }
}

TEST(StepEnvironment, TheTasksOwnVariablesWin) {
  EXPECT_EQ(merged({"A=1", "AB=2"}, {"A=3", "C=4"}), (std::vector<std::string>{"A=3", "AB=2", "C=4"}));
}

TEST_F(Step, EachTaskSpeaksForItselfAndEndsAfterItsLastWord) {
  PartSpec spec = testing::shell_part("echo out $ME $OWN_ID $$; echo err >&2; exit $ME", 3);
  spec.pid_variable = "OWN_ID";
  for (TaskSpec& task : spec.tasks) task.environment = {"ME=" + std::to_string(task.id)};
  start(spec);
  ASSERT_EQ(client_.attach(), "");
  ASSERT_TRUE(client_.finish());
  for (std::uint32_t i = 0; i < 3; ++i) {
    const std::string pid = std::to_string(client_.pids[i]);
    EXPECT_EQ(client_.out[i], "out " + std::to_string(i) + " " + pid + " " + pid + "\n");
    EXPECT_EQ(client_.err[i], "err\n");
    EXPECT_EQ(client_.ends[i].exit, (ExitStatus{.code = static_cast<std::int32_t>(i)}));
    const auto at = [&](const std::string& what) {
      return std::find(client_.order.begin(), client_.order.end(), what + " " + std::to_string(i)) -
             client_.order.begin();
    };
    EXPECT_LT(at("out"), at("ended"));
    EXPECT_LT(at("err"), at("ended"));
  }
  EXPECT_EQ(client_.over->cause, drover::Cause::failed);
  EXPECT_EQ(ended().exit_code, 2);
  EXPECT_FALSE(group_left("1.0"));
}

TEST_F(Step, AClientThatComesAfterTheEndStillGetsAll) {
  start(testing::shell_part("echo early"));
  ended();
  EXPECT_EQ(node_.driver().forget("1.0.0").error().code, Errc::unavailable);
  ASSERT_EQ(client_.attach(), "");
  ASSERT_TRUE(client_.finish());
  EXPECT_EQ(client_.out[0], "early\n");
  EXPECT_TRUE(testing::poll_until([&] { return node_.driver().forget("1.0.0").has_value(); }));
}

TEST_F(Step, AHundredMegabytesComeThroughAndMemoryStaysBounded) {
  start(testing::shell_part("head -c 100000000 /dev/zero"));
  ASSERT_EQ(client_.attach(), "");
  client_.keep = false;
  const Duration begin = since_boot();
  ASSERT_TRUE(client_.finish());
  RecordProperty("milliseconds", static_cast<int>((since_boot() - begin).count()));
  EXPECT_EQ(client_.bytes, 100'000'000U);
}

TEST_F(Step, AProgramIsHeldBackWhileNobodyReads) {
  start(testing::shell_part("head -c 20000000 /dev/zero; echo done > " + node_.out("mark")));
  ::poll(nullptr, 0, 300);
  EXPECT_FALSE(file_exists(node_.out("mark")));
  ASSERT_EQ(client_.attach(), "");
  ASSERT_TRUE(client_.finish());
  EXPECT_EQ(client_.bytes, 20'000'000U);
  EXPECT_TRUE(file_exists(node_.out("mark")));
}

TEST_F(Step, BreaksInMidOutputLoseAndDoubleNothing) {
  start(testing::shell_part("seq 1 400000"));
  for (std::size_t enough = 0; !client_.over; enough += 300'000) {
    ASSERT_EQ(client_.attach(), "");
    client_.until([&] { return client_.over || client_.bytes > enough; });
    if (!client_.over) client_.drop();
  }
  client_.finish();
  std::string wanted;
  for (int i = 1; i <= 400'000; ++i) wanted += std::to_string(i) + "\n";
  EXPECT_TRUE(client_.out[0] == wanted);
}

TEST_F(Step, InputGoesToAllOrToOneAndItsEndIsSeen) {
  start(testing::shell_part("cat", 2));
  ASSERT_EQ(client_.attach(), "");
  client_.type("one\n");
  ASSERT_TRUE(client_.until([&] { return client_.out[0] == "one\n" && client_.out[1] == "one\n"; }));
  client_.type("two\n");
  client_.type_end();
  ASSERT_TRUE(client_.finish());
  EXPECT_EQ(client_.out[1], "one\ntwo\n");

  PartSpec spec = testing::shell_part("cat", 2);
  spec.input_task = 1;
  start(spec, "1.0.1");
  testing::StepClient second(node_, "1.0.1");
  ASSERT_EQ(second.attach(), "");
  second.type("mine\n");
  second.type_end();
  ASSERT_TRUE(second.finish());
  EXPECT_EQ(second.out[0], "");
  EXPECT_EQ(second.out[1], "mine\n");
}

// A task that reads only once its output is taken would wait for ever, were input to stand in the way.
TEST_F(Step, MuchInputAndMuchOutputDontWaitForEachOther) {
  start(testing::shell_part("cat"));
  ASSERT_EQ(client_.attach(), "");
  client_.keep = false;
  std::size_t sent = 0;
  const std::size_t all = 30'000'000;
  ASSERT_TRUE(client_.until([&] {
    for (; sent < all && !client_.full(); sent += 100'000) client_.type(std::string(100'000, 'x'));
    return sent >= all;
  }));
  client_.type_end();
  ASSERT_TRUE(client_.finish());
  EXPECT_EQ(client_.bytes, all);
}

TEST_F(Step, SignalsAndEndsOfTheClientReachEveryProcess) {
  start(testing::shell_part("trap 'echo got; exit 5' USR1; echo up; while :; do sleep 0.05; done", 2));
  ASSERT_EQ(client_.attach(), "");
  ASSERT_TRUE(client_.until([&] { return client_.out[0] == "up\n" && client_.out[1] == "up\n"; }));
  client_.send(StepSignal{SIGUSR1});
  ASSERT_TRUE(client_.finish());
  EXPECT_EQ(client_.ends[1].exit.code, 5);

  start(testing::shell_part("trap '' TERM; echo up; while :; do sleep 0.05; done"), "1.0.1");
  testing::StepClient second(node_, "1.0.1");
  ASSERT_EQ(second.attach(), "");
  ASSERT_TRUE(second.until([&] { return second.out[0] == "up\n"; }));
  second.send(StepEnd{Duration(100)});
  ASSERT_TRUE(second.finish());
  EXPECT_EQ(second.ends[0].exit.signal, SIGKILL);
  EXPECT_EQ(second.over->cause, drover::Cause::cancelled);
}

TEST_F(Step, TheFirstTaskMayHaveATerminalWithASize) {
  PartSpec spec = testing::shell_part("stty size; tty -s && echo terminal; read line; echo \"[$line]\"; stty size", 1);
  spec.pty = true;
  spec.uid = spec.gid = kNobody;
  spec.rows = 30;
  spec.columns = 100;
  start(spec);
  ASSERT_EQ(client_.attach(), "");
  ASSERT_TRUE(client_.until([&] { return client_.out[0].find("terminal") != std::string::npos; }));
  client_.send(StepResize{.rows = 40, .columns = 132});
  client_.type("hello\n");
  ASSERT_TRUE(client_.finish());
  EXPECT_EQ(client_.out[0], "30 100\r\nterminal\r\nhello\r\n[hello]\r\n40 132\r\n");
}

TEST_F(Step, OnlyItsUserRootOrTheTicketMayAttach) {
  PartSpec spec = testing::shell_part("sleep 60");
  spec.uid = spec.gid = kNobody;
  spec.ticket = "secret";
  start(spec);
  EXPECT_EQ(client_.attach(AttachAs::owner, 1234), "this step is another user's");
  EXPECT_EQ(client_.attach(AttachAs::owner, 1234, "wrong!"), "this step is another user's");
  for (const std::string ticket : {"", "wrong!"}) {
    EXPECT_EQ(client_.attach(AttachAs::owner, relay::kNobody, ticket),
              "from another machine only this step's ticket opens it");
  }
  EXPECT_EQ(client_.attach(AttachAs::owner, kNobody), "");
  EXPECT_EQ(client_.attach(AttachAs::owner, 1234, "secret"), "");
  EXPECT_EQ(client_.attach(AttachAs::owner, relay::kNobody, "secret"), "");
}

TEST_F(Step, AWatcherSeesWhatComesFromThenOn) {
  start(testing::shell_part("echo first; read x; echo second"));
  ASSERT_EQ(client_.attach(), "");
  ASSERT_TRUE(client_.until([&] { return client_.out[0] == "first\n"; }));
  testing::StepClient watcher(node_, "1.0.0");
  ASSERT_EQ(watcher.attach(AttachAs::watcher), "");
  client_.type("\n");
  ASSERT_TRUE(client_.finish());
  ASSERT_TRUE(watcher.finish());
  EXPECT_EQ(watcher.out[0], "second\n");
}

TEST_F(Step, AStepWhoseClientStaysAwayIsEnded) {
  PartSpec spec = testing::shell_part("sleep 60");
  spec.owner_patience = Duration(300);
  start(spec);
  ASSERT_EQ(client_.attach(), "");
  ::poll(nullptr, 0, 500);
  EXPECT_EQ(node_.now("1.0.0").state, AttemptState::running);
  client_.drop();
  const Ended end = ended();
  EXPECT_EQ(end.cause, Cause::terminated);
  EXPECT_EQ(end.reason, "cancelled");
  EXPECT_EQ(end.message, "its client is gone");
}

TEST_F(Step, NothingOfItSurvivesItsTasksAndTheyAreOverBeforeTheirChildren) {
  start(testing::shell_part("setsid sh -c 'trap \"\" TERM HUP; while :; do sleep 0.2; done' & echo $!; exit 0"));
  ASSERT_EQ(client_.attach(), "");
  ASSERT_TRUE(client_.finish());
  const auto child = parse_int(trim(client_.out[0]));
  ASSERT_TRUE(child.has_value());
  EXPECT_FALSE(alive(*child));
  EXPECT_EQ(client_.over->cause, drover::Cause::completed);
  EXPECT_FALSE(group_left("1.0"));
}

TEST_F(Step, KillingAgentAndKeeperTouchesNoStep) {
  start(testing::shell_part("echo one; read x; echo two; exit 6"));
  ASSERT_EQ(client_.attach(), "");
  ASSERT_TRUE(client_.until([&] { return client_.out[0] == "one\n"; }));
  const pid_t keeper = node_.driver().keeper();
  node_.drop_agent();
  ASSERT_EQ(::kill(keeper, SIGKILL), 0);
  client_.type("\n");
  ASSERT_TRUE(client_.finish());
  EXPECT_EQ(client_.out[0], "one\ntwo\n");
  node_.reopen();
  EXPECT_EQ(ended().exit_code, 6);
  EXPECT_FALSE(group_left("1.0"));
}

TEST_F(Step, AStepIsConfinedWithinItsJobAndBothGroupsGoWithTheLast) {
  ASSERT_TRUE(node_.driver()
                  .start("1.0", node_.shell("sleep 60", {.limits = {.memory_bytes = 256 << 20}}))
                  .has_value());
  node_.wait("1.0", AttemptState::running);
  PartSpec spec = testing::shell_part("tail /dev/zero");
  spec.job_limits = {.memory_bytes = 256 << 20};
  spec.limits = {.memory_bytes = 32 << 20, .cpus = {0}};
  start(spec);
  ASSERT_EQ(client_.attach(), "");
  ASSERT_TRUE(client_.finish());
  EXPECT_TRUE(client_.ends[0].out_of_memory);
  EXPECT_EQ(client_.over->cause, drover::Cause::out_of_memory);
  EXPECT_LE(ended().peak_memory, 32 << 20);
  EXPECT_FALSE(group_left("1.0"));
  EXPECT_FALSE(group_left(node_.now("1.0.0").claim->group));
  EXPECT_TRUE(group_left(node_.now("1.0").claim->group));
  EXPECT_EQ(node_.now("1.0").state, AttemptState::running);
}

TEST_F(Step, AJobsEndEndsItsStepsInOrder) {
  ASSERT_TRUE(
      node_.driver()
          .start("1.0", node_.shell("while [ ! -e " + node_.out("go") + " ]; do sleep 0.02; done"))
          .has_value());
  node_.wait("1.0", AttemptState::running);
  start(testing::shell_part("trap 'echo asked; exit 3' TERM; echo up; while :; do sleep 0.02; done"));
  ASSERT_EQ(client_.attach(), "");
  ASSERT_TRUE(client_.until([&] { return client_.out[0] == "up\n"; }));
  { std::ofstream go(node_.out("go")); }
  ASSERT_TRUE(client_.finish());
  EXPECT_EQ(client_.out[0], "up\nasked\n");
  EXPECT_EQ(client_.over->cause, drover::Cause::cancelled);
  EXPECT_EQ(node_.wait("1.0", AttemptState::ended).ended->cause, Cause::exited);
  EXPECT_FALSE(group_left("1.0"));
}

TEST_F(Step, TasksThatShareAFileAllFindTheirWordsInIt) {
  PartSpec spec = testing::shell_part("echo line", 5);
  for (TaskSpec& task : spec.tasks) task.stdout_path = node_.out("shared");
  std::ofstream(node_.out("shared")) << "old words, longer than the new ones will be altogether\n";
  start(spec);
  ASSERT_EQ(client_.attach(), "");
  ASSERT_TRUE(client_.finish());
  EXPECT_EQ(node_.output("shared"), "line\nline\nline\nline\nline\n");
}

TEST_F(Step, AProgramThatIsMissingIsTheTasksOwnFault) {
  PartSpec spec = testing::shell_part("exit 0", 2);
  spec.tasks[1].argv = {"no-such-program"};
  start(spec);
  ASSERT_EQ(client_.attach(), "");
  ASSERT_TRUE(client_.finish());
  EXPECT_EQ(client_.ends[0].failure, "");
  EXPECT_EQ(client_.ends[1].failure, "can't run the program: No such file or directory");
  EXPECT_EQ(client_.ends[1].exit.code, 127);
  EXPECT_EQ(client_.err[1], "drover: can't run no-such-program: No such file or directory\n");
}

TEST_F(Step, ManyTasksAreAllHeard) {
  start(testing::shell_part("echo hello; echo hello >&2", 100));
  ASSERT_EQ(client_.attach(), "");
  ASSERT_TRUE(client_.finish());
  EXPECT_EQ(client_.ends.size(), 100U);
  for (std::uint32_t i = 0; i < 100; ++i) EXPECT_EQ(client_.out[i] + client_.err[i], "hello\nhello\n") << i;
}

TEST(StepWithoutCgroups, RunsAndEndsWhole) {
  testing::Node node(false);
  PartSpec spec = testing::shell_part("setsid sleep 60 & echo $!");
  spec.uid = ::geteuid();
  spec.gid = ::getegid();
  ASSERT_TRUE(node.driver().start_part("1.0.0", spec).has_value());
  testing::StepClient client(node, "1.0.0");
  ASSERT_EQ(client.attach(), "");
  ASSERT_TRUE(client.finish());
  const auto child = parse_int(trim(client.out[0]));
  ASSERT_TRUE(child.has_value());
  EXPECT_NE(::kill(static_cast<pid_t>(*child), 0), 0);
}

}  // namespace
}  // namespace drover::agent
