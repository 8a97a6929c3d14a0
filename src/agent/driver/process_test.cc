// Real processes: limits, identity, ends, and who may be killed in between.
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <fstream>

#include "agent/driver/testing.h"
#include "base/text.h"

namespace drover::agent {
namespace {

constexpr std::uint32_t kNobody = 65534;
constexpr DeviceNode kFirst{.major = 10, .minor = 229};
constexpr DeviceNode kSecond{.major = 10, .minor = 237};

class Process : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    if (node_.driver().cgroups().backend() == Backend::none) {
      GTEST_SKIP() << "needs cgroups: " << node_.driver().cgroups().off().front();
    }
  }
  [[nodiscard]] std::string group(const std::string& key, const std::string& controller) {
    const auto claim = node_.now(key).claim;
    EXPECT_TRUE(claim.has_value());
    return root(controller) + "/" + (claim ? claim->group : "");
  }
  [[nodiscard]] std::string root(const std::string& controller) const {
    const bool legacy = file_exists("/sys/fs/cgroup/" + controller + "/cgroup.procs");
    return "/sys/fs/cgroup/" + (legacy ? controller + "/" : "") + node_.options().cgroup_root;
  }
  // The shim may keep the empty directories for its next job.
  [[nodiscard]] bool group_left(const std::string& key) {
    for (const char* controller : {"memory", "unified", "pids"}) {
      const auto inside = read_file(group(key, controller) + "/cgroup.procs");
      if (inside && !inside->empty()) return true;
    }
    return false;
  }
  // A dead child that nobody has waited for yet isn't alive.
  [[nodiscard]] static bool alive(pid_t pid) {
    const auto stat = read_file("/proc/" + std::to_string(pid) + "/stat");
    return stat && stat->find(") Z ") == std::string::npos;
  }
  [[nodiscard]] pid_t pid_in(const std::string& name) const {
    const auto pid = parse_int(trim(node_.output(name)));
    return pid ? static_cast<pid_t>(*pid) : 0;
  }
  [[nodiscard]] static pid_t parent_of(std::int64_t pid) {
    const auto status = read_file("/proc/" + std::to_string(pid) + "/status");
    if (!status) return 0;
    for (const std::string_view line : split(*status, '\n')) {
      if (line.starts_with("PPid:")) return static_cast<pid_t>(parse_int(trim(line.substr(5))).value_or(0));
    }
    return 0;
  }

  testing::Node node_;
};

TEST_F(Process, AJobHasItsUsersIdentityNoCapabilitiesItsCpuAndItsMemory) {
  StartSpec spec{.uid = kNobody, .gid = kNobody, .groups = {kNobody, 7}, .umask = 027};
  spec.limits = {.memory_bytes = 64 << 20, .cpus = {0}};
  spec.rlimits = {{.resource = RLIMIT_NOFILE, .soft = 321, .hard = 654}};
  const Ended ended = node_.run(
      "1.0",
      "id -u; id -G; grep -E 'CapEff|CapBnd|NoNewPrivs' /proc/self/status; nproc; umask; ulimit -n; "
      "cat /sys/fs/cgroup/memory/$(sed -n 's/.*:memory:\\///p' /proc/self/cgroup)/memory.limit_in_bytes 2>/dev/null || "
      "cat /sys/fs/cgroup/$(sed -n 's/^0:://p' /proc/self/cgroup)/memory.max; "
      "cat /proc/self/oom_score_adj; echo $0",
      spec);
  EXPECT_EQ(ended.cause, Cause::exited);
  EXPECT_EQ(node_.output(),
            "65534\n65534 7\nCapEff:\t0000000000000000\nCapBnd:\t0000000000000000\nNoNewPrivs:\t1\n"
            "1\n0027\n321\n67108864\n0\n" +
                node_.driver().script_path("1.0") + "\n");
}

TEST_F(Process, TwoJobsSeeOneDeviceEachAndAJobWithoutSeesNone) {
  const std::string first = node_.out("gpu0");
  const std::string second = node_.out("gpu1");
  ASSERT_EQ(::mknod(first.c_str(), S_IFCHR | 0666, makedev(10, 229)), 0);
  ASSERT_EQ(::mknod(second.c_str(), S_IFCHR | 0666, makedev(10, 237)), 0);
  ::chmod(first.c_str(), 0666);
  ::chmod(second.c_str(), 0666);
  const std::string look =
      "for d in " + first + " " + second + "; do "
      "(exec 3<$d) 2>/dev/null && echo yes || echo no; done";
  const auto seen = [&](const std::string& key, std::vector<DeviceNode> denied) {
    StartSpec spec{.uid = kNobody, .gid = kNobody, .stdout_path = node_.out(key)};
    spec.limits.denied = std::move(denied);
    node_.run(key, look, spec);
    return node_.output(key);
  };
  EXPECT_EQ(seen("both", {}), "yes\nyes\n");
  EXPECT_EQ(seen("1.0", {kSecond}), "yes\nno\n");
  EXPECT_EQ(seen("2.0", {kFirst}), "no\nyes\n");
  EXPECT_EQ(seen("3.0", {kFirst, kSecond}), "no\nno\n");
}

TEST_F(Process, NothingOfAJobSurvivesIt) {
  const Ended ended = node_.run("1.0", "setsid sh -c 'trap \"\" TERM HUP; echo $$ > " + node_.out("child") +
                                           "; while :; do sleep 1; done' & while [ ! -s " + node_.out("child") +
                                           " ]; do sleep 0.01; done; exit 0");
  EXPECT_EQ(ended.cause, Cause::exited);
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_FALSE(ended.leftover);
  ASSERT_GT(pid_in("child"), 0);
  EXPECT_FALSE(alive(pid_in("child")));
  EXPECT_FALSE(group_left("1.0"));
}

// A child that was born while the processes were listed had to wait for the end of the grace.
TEST_F(Process, WhoeverIsBornWhileAJobIsAskedToEndIsAskedToo) {
  for (int i = 0; i < 8; ++i) {
    const std::string key = std::to_string(i) + ".0";
    StartSpec spec;
    spec.limits = {.pids = 500};
    spec = node_.shell("while :; do sleep 60 & sleep 60 & echo >> " + node_.out("born") + "; done", spec);
    ASSERT_TRUE(node_.driver().start(key, spec));
    ASSERT_TRUE(testing::poll_until([&] { return file_exists(node_.out("born")); }));
    ASSERT_TRUE(node_.driver().tell(key, Terminate{.grace = seconds(8), .reason = "cancelled"}));
    const Duration asked = since_boot();
    EXPECT_EQ(node_.wait(key, AttemptState::ended).ended.value_or(Ended{}).cause, Cause::terminated);
    EXPECT_LT(since_boot() - asked, seconds(4)) << i;
    ::unlink(node_.out("born").c_str());
  }
}

// Since Linux 6.14 whatever is cloned into a group that was once killed as a whole dies at once.
TEST_F(Process, AJobThatHadToBeKilledHarmsNoneAfterIt) {
  for (int i = 0; i < 3; ++i) {
    const std::string number = std::to_string(i);
    node_.run(number + ".0", "(trap '' TERM HUP; touch " + node_.out("up" + number) + "; sleep 60) & while [ ! -e " +
                                 node_.out("up" + number) + " ]; do sleep 0.01; done");
    const Ended next = node_.run(number + ".1", "exit 3");
    EXPECT_EQ(next.signal, 0);
    EXPECT_EQ(next.exit_code, 3);
  }
}

TEST_F(Process, AShimAndItsGroupServeTheNextJobWithLimitsAndCountsOfItsOwn) {
  StartSpec spec;
  spec.limits = {.memory_bytes = 128 << 20, .pids = 100};
  const Ended large = node_.run("1.0", "head -c 30000000 /dev/zero | tail -c 30000000 | wc -c; echo $PPID", spec);
  const std::string first = node_.output();
  spec.limits = {.memory_bytes = 64 << 20, .pids = 50};
  const Ended small = node_.run(
      "2.0", "cat /sys/fs/cgroup/*/$(sed -n 's/.*:memory:\\///p' /proc/self/cgroup)/memory.limit_in_bytes; "
             "cat /sys/fs/cgroup/*/$(sed -n 's/.*:pids:\\///p' /proc/self/cgroup)/pids.max; echo $PPID", spec);
  const std::string shim = first.substr(first.find('\n'));
  EXPECT_EQ(node_.output(), "67108864\n50" + shim);
  EXPECT_GT(large.peak_memory, 30'000'000);
  EXPECT_LT(small.peak_memory, 10'000'000);
  EXPECT_LT(small.cpu_us, small.user_us + small.system_us + 50'000);
  // Out of memory is a word about one job, never about the next.
  EXPECT_EQ(node_.run("3.0", "tail /dev/zero", spec).cause, Cause::out_of_memory);
  EXPECT_EQ(node_.run("4.0", "exit 3", spec).cause, Cause::exited);
  spec.limits = {};
  node_.run("5.0", "echo $PPID", spec);
  EXPECT_EQ("\n" + node_.output(), shim);
}

TEST_F(Process, AKeeperThatIsAskedToGoLeavesNoGroup) {
  node_.run("1.0", "true");
  ASSERT_EQ(::kill(node_.driver().keeper(), SIGTERM), 0);
  EXPECT_TRUE(testing::poll_until([&] { return !file_exists(root("memory")) && !file_exists(root("unified")); }));
}

TEST_F(Process, OutOfMemoryIsToldApart) {
  StartSpec spec;
  spec.limits.memory_bytes = 32 << 20;
  const Ended ended = node_.run("1.0", "tail /dev/zero", spec);
  EXPECT_EQ(ended.cause, Cause::out_of_memory);
  EXPECT_GT(ended.oom_kills, 0);
  EXPECT_GT(ended.peak_memory, 30 << 20);
  EXPECT_LE(ended.peak_memory, 32 << 20);
}

TEST_F(Process, UsageIsThatOfTheWholeJob) {
  const Ended ended = node_.run("1.0", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done & wait");
  EXPECT_GT(ended.user_us + ended.system_us, 20'000);
  EXPECT_GT(ended.cpu_us, 20'000);
  EXPECT_GT(ended.peak_memory, 100'000);
}

TEST_F(Process, AForkBombIsBoundedAndEnds) {
  StartSpec spec{.time_limit = Duration(500), .grace = Duration(100)};
  spec.limits.pids = 20;
  const Ended ended = node_.run("1.0", "f() { f | f & }; f; while :; do sleep 0.05; done", spec);
  EXPECT_NE(ended.cause, Cause::not_started);
  EXPECT_FALSE(ended.leftover);
  EXPECT_FALSE(group_left("1.0"));
}

TEST_F(Process, TheWarningComesBeforeTheLimitAndOnlyToWhomItIsMeantFor) {
  StartSpec spec{.time_limit = Duration(700), .warn_signal = SIGUSR1, .warn_before = Duration(400),
                 .warn_scope = SignalScope::main_only, .grace = Duration(50)};
  const Ended ended = node_.run("1.0", "trap 'echo warned' USR1; trap 'echo asked; exit 3' TERM; "
                                       "while :; do sleep 0.02; done", spec);
  EXPECT_EQ(ended.cause, Cause::time_limit);
  EXPECT_EQ(ended.exit_code, 3);
  const std::string output = node_.output();
  EXPECT_TRUE(output.starts_with("warned\n") && output.ends_with("asked\n")) << output;
}

TEST_F(Process, SignalsGoToTheShellOrToTheOthers) {
  const StartSpec spec = node_.shell(
      "trap 'echo shell' USR1; sh -c 'trap \"echo child\" USR1; echo up; for i in 1 2 3 4 5 6; do sleep 0.1; done' & "
      "while ! wait $!; do :; done; wait");
  ASSERT_TRUE(node_.driver().start("1.0", spec).has_value());
  ASSERT_TRUE(testing::poll_until([&] { return node_.output() == "up\n"; }));
  const SendSignal others{.signal = SIGUSR1, .scope = SignalScope::all_but_main};
  ASSERT_TRUE(node_.driver().tell("1.0", others).has_value());
  ASSERT_TRUE(testing::poll_until([&] { return node_.output().find("child\n") != std::string::npos; }));
  EXPECT_EQ(node_.output().find("shell"), std::string::npos);
  ASSERT_TRUE(node_.driver().tell("1.0", SendSignal{.signal = SIGUSR1, .scope = SignalScope::main_only}).has_value());
  EXPECT_TRUE(testing::poll_until([&] { return node_.output().find("shell\n") != std::string::npos; }));
}

TEST_F(Process, KillingAgentAndKeeperTouchesNoJobAndItsExitCodeIsKnown) {
  ASSERT_TRUE(node_.driver().start("1.0", node_.shell("sleep 0.7; exit 42")).has_value());
  const Attempt running = node_.wait("1.0", AttemptState::running);
  const pid_t keeper = node_.driver().keeper();
  node_.drop_agent();
  ASSERT_EQ(::kill(keeper, SIGKILL), 0);
  ASSERT_TRUE(testing::poll_until([&] { return !alive(keeper); }));
  EXPECT_TRUE(alive(static_cast<pid_t>(running.started->pid)));
  EXPECT_TRUE(testing::poll_until([&] { return !alive(static_cast<pid_t>(running.started->pid)); }));
  node_.reopen();
  const Attempt ended = node_.wait("1.0", AttemptState::ended);
  EXPECT_EQ(ended.ended->exit_code, 42);
  EXPECT_EQ(ended.started, running.started);
  EXPECT_FALSE(group_left("1.0"));
}

TEST_F(Process, AnOrphanedShimStillObeysAndReportsToTheNextKeeper) {
  ASSERT_TRUE(node_.driver().start("1.0", node_.shell("sleep 60")).has_value());
  ASSERT_TRUE(node_.driver().start("2.0", node_.shell("sleep 0.6; exit 9")).has_value());
  node_.wait("1.0", AttemptState::running);
  node_.wait("2.0", AttemptState::running);
  ASSERT_EQ(::kill(node_.driver().keeper(), SIGKILL), 0);
  // Without list(): the word must come by itself.
  Attempt second;
  EXPECT_TRUE(testing::poll_until([&] {
    for (const Attempt& attempt : node_.driver().changes()) {
      if (attempt.key == "2.0") second = attempt;
    }
    return second.state == AttemptState::ended;
  }));
  ASSERT_TRUE(second.ended.has_value());
  EXPECT_EQ(second.ended->exit_code, 9);
  ASSERT_TRUE(node_.driver().tell("1.0", Terminate{.grace = seconds(5), .reason = "why"}).has_value());
  EXPECT_EQ(node_.wait("1.0", AttemptState::ended).ended->reason, "why");
}

TEST_F(Process, StartsThatADeadKeeperTookWithItAreMadeAgain) {
  const pid_t keeper = node_.driver().keeper();
  ASSERT_EQ(::kill(keeper, SIGSTOP), 0);
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(node_.driver().start(std::to_string(i), node_.shell("exit 5")).has_value());
  }
  ASSERT_EQ(::kill(keeper, SIGKILL), 0);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(node_.wait(std::to_string(i), AttemptState::ended).ended->exit_code, 5);
}

TEST_F(Process, AJobWhoseShimIsKilledIsUnknownUntilItIsEnded) {
  ASSERT_TRUE(node_.driver().start("1.0", node_.shell("sleep 60")).has_value());
  const Attempt running = node_.wait("1.0", AttemptState::running);
  ASSERT_EQ(::kill(parent_of(running.started->pid), SIGKILL), 0);
  Attempt seen;
  EXPECT_TRUE(testing::poll_until([&] {
    for (const Attempt& attempt : node_.driver().changes()) seen = attempt;
    return seen.state == AttemptState::unknown;
  }));
  EXPECT_TRUE(alive(static_cast<pid_t>(running.started->pid)));
  EXPECT_EQ(node_.driver().forget("1.0").error().code, Errc::conflict);
  ASSERT_TRUE(node_.driver().tell("1.0", Terminate{}).has_value());
  EXPECT_EQ(node_.wait("1.0", AttemptState::ended).ended->cause, Cause::lost);
  EXPECT_FALSE(alive(static_cast<pid_t>(running.started->pid)));
  EXPECT_FALSE(group_left("1.0"));
}

TEST_F(Process, AMissingOutputFolderIsAClearReason) {
  const Ended ended = node_.run("1.0", "echo hello", {.stdout_path = "/nonexistent/folder/log"});
  EXPECT_EQ(ended.cause, Cause::not_started);
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_EQ(ended.message, "can't open the output file /nonexistent/folder/log: No such file or directory");
}

TEST_F(Process, OutputIsOpenedAsTheUser) {
  std::ofstream(node_.out("roots")) << "precious";
  const StartSpec spec{.uid = kNobody, .gid = kNobody, .stdout_path = node_.out("roots")};
  const Ended ended = node_.run("1.0", "echo gone", spec);
  EXPECT_EQ(ended.cause, Cause::not_started);
  EXPECT_NE(ended.message.find("Permission denied"), std::string::npos) << ended.message;
  EXPECT_EQ(node_.output("roots"), "precious");
}

TEST_F(Process, AJobThatHangsInOpeningItsOutputCanBeEnded) {
  ASSERT_EQ(::mkfifo(node_.out("fifo").c_str(), 0666), 0);
  ASSERT_TRUE(node_.driver().start("1.0", node_.shell("echo", {.stdout_path = node_.out("fifo")})).has_value());
  ::poll(nullptr, 0, 100);
  ASSERT_TRUE(node_.driver().tell("1.0", Terminate{.grace = seconds(5)}).has_value());
  EXPECT_EQ(node_.wait("1.0", AttemptState::ended).ended->cause, Cause::terminated);
}

TEST_F(Process, AMissingFolderToRunInIsReplacedAndTold) {
  const Ended ended = node_.run("1.0", "pwd", {.cwd = "/nonexistent/place"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(node_.output(), "drover: can't go to /nonexistent/place: No such file or directory; going to /tmp\n/tmp\n");
}

TEST_F(Process, ExitCodesOfProgramsThatCannotRunAreThoseOfAShell) {
  const auto code = [&](const std::string& key, const std::string& program) {
    const StartSpec spec{.argv = {program}, .environment = {"PATH=/bin"}, .stdout_path = node_.out()};
    EXPECT_TRUE(node_.driver().start(key, spec).has_value());
    return node_.wait(key, AttemptState::ended).ended->exit_code;
  };
  EXPECT_EQ(code("1.0", "no-such-program"), 127);
  EXPECT_EQ(code("2.0", "/etc/passwd"), 126);
  EXPECT_EQ(code("3.0", "true"), 0);
  EXPECT_EQ(code("4.0", "false"), 1);
}

TEST_F(Process, ASignalThatEndsTheJobIsNamed) {
  const Ended ended = node_.run("1.0", "kill -9 $$");
  EXPECT_EQ(ended.cause, Cause::exited);
  EXPECT_EQ(ended.signal, SIGKILL);
  EXPECT_EQ(ended.exit_code, 0);
}

TEST_F(Process, ALargeScriptAndArgumentsArriveWhole) {
  StartSpec spec;
  spec.argv = {"ignored", "$(touch pwn)", "two words"};
  const Ended ended = node_.run("1.0", "echo \"$#|$1|$2\"\n#" + std::string(3 << 20, 'x'), spec);
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(node_.output(), "2|$(touch pwn)|two words\n");
  EXPECT_FALSE(file_exists("/tmp/pwn"));
}

TEST_F(Process, CpusThatTheMachineHasNotAreToldNotToConfine) {
  StartSpec spec;
  spec.limits.cpus = {0, 4000};
  node_.run("1.0", "nproc", spec);
  EXPECT_EQ(node_.output(), std::to_string(::sysconf(_SC_NPROCESSORS_ONLN)) + "\n");
  const Attempt attempt = node_.now("1.0");
  ASSERT_EQ(attempt.started->notes.size(), 1U);
  EXPECT_NE(attempt.started->notes[0].find("CPU 4000"), std::string::npos);
}

TEST(ProcessNames, JobsSeeTheirNodesNameAndTheHostsOfTheCluster) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  testing::Node node(true, "node-seven");
  ASSERT_NE(node.driver().hosts_path(), "");
  { std::ofstream(node.driver().hosts_path()) << "10.9.8.7 n8\n"; }
  node.run("1.0", "hostname; cat /etc/hosts; getent hosts n8 | tr -s ' '");
  EXPECT_EQ(node.output(), "node-seven\n10.9.8.7 n8\n10.9.8.7 n8\n");
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size());
  EXPECT_STRNE(name.data(), "node-seven");
}

TEST_F(Process, AFullStateDiskSwallowsNoExitCode) {
  const std::string folder = node_.out("small");
  ::mkdir(folder.c_str(), 0755);
  ASSERT_EQ(::mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=128k,mode=0755"), 0);
  {
    ProcessOptions options = node_.options();
    options.folder = folder + "/state";
    options.socket = node_.out("s2");
    auto driver = ProcessDriver::open(options);
    ASSERT_TRUE(driver.has_value()) << driver.error().message;
    ASSERT_TRUE((*driver)->start("f.0", node_.shell("sleep 0.5; exit 42")).has_value());
    ASSERT_TRUE(testing::poll_until([&] { return (*driver)->list().at(0).state == AttemptState::running; }));
    { std::ofstream(folder + "/filler") << std::string(1 << 20, 'x'); }
    ASSERT_TRUE(testing::poll_until([&] { return (*driver)->list().at(0).state == AttemptState::ended; }));
    EXPECT_EQ((*driver)->list().at(0).ended->exit_code, 42);
    // Refused with the reason; and nothing stays behind of it.
    ASSERT_TRUE((*driver)->start("g.0", node_.shell("exit 0")).has_value());
    Attempt refused;
    ASSERT_TRUE(testing::poll_until([&] {
      for (const Attempt& attempt : (*driver)->changes()) {
        if (attempt.key == "g.0") refused = attempt;
      }
      return refused.state == AttemptState::ended;
    }));
    EXPECT_EQ(refused.ended->cause, Cause::not_started);
    EXPECT_NE(refused.ended->message.find("No space left"), std::string::npos) << refused.ended->message;
    EXPECT_TRUE((*driver)->forget("g.0").has_value());
    ::kill((*driver)->keeper(), SIGTERM);
    ASSERT_TRUE(testing::poll_until([&] { return !alive((*driver)->keeper()); }));
  }
  EXPECT_EQ(::umount2(folder.c_str(), MNT_DETACH), 0);
}

TEST(ProcessWithoutCgroups, AJobStillEndsWholeAndInTime) {
  testing::Node node(false);
  StartSpec spec{.uid = ::geteuid(), .gid = ::getegid(), .time_limit = Duration(300), .grace = Duration(100)};
  spec.limits = {.memory_bytes = 64 << 20, .cpus = {0}};
  const Ended ended = node.run("1.0", "nproc; setsid sh -c 'trap \"\" TERM; echo $$ > " + node.out("child") +
                                          "; while :; do sleep 1; done' & sleep 60", spec);
  EXPECT_EQ(ended.cause, Cause::time_limit);
  EXPECT_FALSE(ended.leftover);
  EXPECT_EQ(node.output(), "1\n");
  const auto child = parse_int(trim(node.output("child")));
  ASSERT_TRUE(child.has_value());
  EXPECT_NE(::kill(static_cast<pid_t>(*child), 0), 0);
  EXPECT_EQ(node.driver().cgroups().backend(), Backend::none);
  EXPECT_GE(node.driver().cgroups().off().size(), 4U);
}

}  // namespace
}  // namespace drover::agent
