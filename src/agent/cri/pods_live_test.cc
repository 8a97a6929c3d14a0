// Pods in a real containerd.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>

#include "agent/cgroup/directory.h"
#include "agent/cri/commands.h"
#include "agent/cri/testing.h"
#include "agent/pod/groups.h"
#include "agent/pod/log.h"
#include "agent/pod/pods.h"
#include "agent/pod/streams.h"
#include "base/proto.h"
#include "base/resume.h"
#include "base/text.h"
#include "os/socket.h"

namespace drover::agent {
namespace {

using ::testing::HasSubstr;

struct PodsLive : ::testing::Test {
  void SetUp() override {
    if (const std::string why = testing::Containerd::missing(); !why.empty()) GTEST_SKIP() << why;
    static int number = 0;
    node = std::to_string(::getpid()) + "-" + std::to_string(++number);
    client = testing::Containerd::get().client(node);
    groups = std::make_unique<PodCgroups>("drover-test/" + node, [](const auto&) {
      return Result<std::vector<DeviceNode>>(std::vector<DeviceNode>{});
    });
    restart_agent();
  }
  void TearDown() override {
    if (!pods) return;
    if (HasFailure()) std::cerr << notes;
    pods->end("17.1", drover::Cause::cancelled, {});
    EXPECT_TRUE(until([&] { return !pods->has("17.1") || pods->is_over("17.1"); }));
    pods.reset();
    workers.reset();
    for (const std::string mount : {"memory", "cpu", "devices"}) {
      EXPECT_FALSE(file_exists("/sys/fs/cgroup/" + mount + "/drover-test/" + node + "/17.1"));
    }
    ::system(("find /sys/fs/cgroup -depth -type d -path '*/drover-test/" + node + "*' -exec rmdir {} +").c_str());
  }
  void restart_agent() {
    pods.reset();
    workers = std::make_unique<Workers>();
    runtime = std::make_unique<cri::CriRuntime>(client, *workers);
    pods = std::make_unique<Pods>(
        PodSite{.workers = workers.get(), .images = runtime.get(), .groups = groups.get(),
                .brief = folder.path("brief"), .lasting = folder.path("lasting"), .hosts_path = {},
                .address = "127.0.0.1", .clock = [] { return Moment{.boot = since_boot(), .wall = wall_now()}; },
                .devices = [this](const auto& uuids) { return uuids.empty() ? std::vector<DeviceInfo>{} : devices; }});
    pods->start({.need = [](const NeedPod&) {},
                 .report = [this](ReportBody body) {
                   if (const auto* report = std::get_if<ReportPod>(&body)) status = report->status;
                   if (const auto* report = std::get_if<ReportEnded>(&body)) ended = *report;
                 },
                 .note = [this](PodNotes said) {
                   for (const PodNote& one : said.notes) notes += one.reason + ": " + one.message + "\n";
                 },
                 .say = [](const std::string& line) { ADD_FAILURE() << line; }});
  }
  bool until(const std::function<bool()>& done) {
    return testing::poll_until([&] {
      pods->turn();
      ::poll(nullptr, 0, 5);
      return done();
    }, seconds(40));
  }
  static PodContainer shell(const std::string& script, const std::string& name = "c") {
    return {.name = name, .image = testing::kImage, .command = {"/bin/sh", "-c", script}};
  }
  void run(PodLaunch launch) {
    launch.name = "p";
    launch.space = "default";
    launch.uid = "uid-" + node;
    pods->want(JobId(17), 1, {});
    pods->on_body({.job = JobId(17), .attempt = 1, .launch = launch});
  }
  bool ends() { return until([&] { return ended.has_value(); }); }
  std::string log(const std::string& name = "c", int n = 0) {
    return log_tail(folder.path("lasting") + "/17.1/logs/" + name + "/" + std::to_string(n) + ".log", 100, 10000);
  }

  std::string node;
  TempFolder folder;
  std::shared_ptr<cri::Client> client;
  std::unique_ptr<PodCgroups> groups;
  std::unique_ptr<Workers> workers;
  std::unique_ptr<cri::CriRuntime> runtime;
  std::vector<DeviceInfo> devices;
  PodStatus status;
  std::optional<ReportEnded> ended;
  std::string notes;
  std::unique_ptr<Pods> pods;
};

TEST_F(PodsLive, APodRunsAndLeavesNothing) {
  PodContainer one = shell("echo hello $A; cat /files/name; touch /scratch/x; ls /scratch; hostname; "
                           "cat /proc/self/cgroup | grep -c 17.1; id -u; echo ended > /dev/termination-log; exit 7");
  one.environment = {"A=there"};
  one.mounts = {{.volume = "f", .path = "/files"}, {.volume = "e", .path = "/scratch"}};
  run({.restart = RestartPolicy::never,
       .volumes = {{.name = "f", .kind = VolumeKind::files, .files = {{.path = "name", .bytes = "Rover\n"}}},
                   {.name = "e"}},
       .containers = {one}});
  ASSERT_TRUE(ends());
  EXPECT_EQ(ended->cause, drover::Cause::failed);
  EXPECT_EQ(ended->exit.code, 7);
  EXPECT_THAT(log(), HasSubstr("hello there\nRover\nx\n"));
  EXPECT_EQ(status.containers[0].state.message, "ended\n");
  EXPECT_EQ(status.containers[0].state.reason, "Error");
  EXPECT_FALSE(file_exists(folder.path("lasting") + "/17.1/volumes"));
  EXPECT_TRUE(client->list()->containers.empty());
  EXPECT_TRUE(client->list()->sandboxes.empty());
  EXPECT_GT(ended->usage.peak_memory.count(), 0);
}

TEST_F(PodsLive, LimitsHoldAndDevicesAreHidden) {
  PodContainer one = shell("cat /sys/fs/cgroup/memory/memory.limit_in_bytes; cat /sys/fs/cgroup/cpu/cpu.cfs_quota_us; "
                           "echo v=$NVIDIA_VISIBLE_DEVICES; test -e /dev/kmsg && echo bad; "
                           "mknod /tmp/k c 1 1 || echo no mknod; cat /tmp/k; grep NoNewPrivs /proc/self/status; id");
  one.memory_limit = mebibytes(64);
  one.cpu_limit_milli = 500;
  one.environment = {"NVIDIA_VISIBLE_DEVICES=all"};
  one.security = {.user = 1000, .group = 1000, .may_gain_privileges = false};
  run({.restart = RestartPolicy::never, .containers = {one}});
  ASSERT_TRUE(ends());
  EXPECT_THAT(log(), HasSubstr("67108864\n50000\nv=void\n"));
  EXPECT_THAT(log(), HasSubstr("no mknod"));
  EXPECT_THAT(log(), HasSubstr("NoNewPrivs:\t1"));
  EXPECT_THAT(log(), HasSubstr("uid=1000 gid=1000"));
  EXPECT_THAT(log(), ::testing::Not(HasSubstr("bad")));
}

TEST_F(PodsLive, AContainerThatTakesTooMuchMemoryIsToldSo) {
  PodContainer one = shell("tail /dev/zero");
  one.memory_limit = mebibytes(20);
  run({.restart = RestartPolicy::never, .containers = {one}});
  ASSERT_TRUE(ends());
  EXPECT_EQ(status.containers[0].state.reason, "OOMKilled");
  EXPECT_EQ(ended->exit.code, 137);
}

TEST_F(PodsLive, AGrantedDeviceIsThereAndOnlyInItsContainer) {
  if (!file_exists("/dev/fuse")) GTEST_SKIP() << "needs some device file";
  devices = {{.uuid = "GPU-a", .files = {"/dev/fuse"}}};
  const std::string look = "(: </dev/fuse) 2>&1 && echo device; rm -f /dev/fuse; mknod /dev/fuse c 10 229; "
                           "(: </dev/fuse) 2>/dev/null && echo again; echo $NVIDIA_VISIBLE_DEVICES";
  PodContainer one = shell(look);
  one.device_uuids = {"GPU-a"};
  run({.restart = RestartPolicy::never, .containers = {one, shell(look, "other")}});
  ASSERT_TRUE(ends());
  EXPECT_EQ(log(), "device\nagain\nGPU-a\n");
  EXPECT_THAT(log("other"), HasSubstr("void\n"));
  EXPECT_THAT(log("other"), ::testing::Not(HasSubstr("device\n")));
  EXPECT_THAT(log("other"), ::testing::Not(HasSubstr("again\n")));  // not even one that it made itself
}

TEST_F(PodsLive, ItGoesOnWithoutItsAgentAndIsTakenUpAgain) {
  run({.containers = {shell("sleep 1000")}});
  ASSERT_TRUE(until([&] { return !status.containers.empty() &&
                                 status.containers[0].state.phase == ContainerPhase::running; }));
  const std::string id = status.containers[0].container_id;
  restart_agent();
  status = {};
  pods->report_all();
  ASSERT_TRUE(until([&] { return !status.containers.empty(); }));
  EXPECT_EQ(status.containers[0].container_id, id);
  EXPECT_EQ(status.containers[0].restarts, 0U);
  const Duration begun = since_boot();
  pods->end("17.1", drover::Cause::cancelled, seconds(1));
  ASSERT_TRUE(ends());
  EXPECT_EQ(status.containers[0].state.exit.code, 137);  // a shell as the first process takes no SIGTERM
  EXPECT_GE(since_boot() - begun, seconds(1));
}

TEST_F(PodsLive, AMissingImageIsSaidAndAnExecProbeIsAsked) {
  PodContainer missing = shell("true", "missing");
  missing.image = "local.drover/none:1";
  missing.pull = PullPolicy::never;
  PodContainer probed = shell("sleep 2; touch /tmp/ready; sleep 100", "probed");
  probed.readiness = PodProbe{.command = {"test", "-f", "/tmp/ready"}, .period = seconds(1)};
  run({.containers = {missing, probed}});
  ASSERT_TRUE(until([&] { return status.containers.size() == 2 && status.containers[1].ready; }));
  EXPECT_EQ(status.containers[0].state.reason, "ErrImageNeverPull");
  EXPECT_THAT(notes, HasSubstr("Unhealthy: Readiness probe failed"));
}

TEST_F(PodsLive, ACommandThatIsntThereIsAStartError) {
  PodContainer one{.name = "c", .image = testing::kImage, .command = {"/no/such/program"}};
  run({.restart = RestartPolicy::never, .containers = {one}});
  ASSERT_TRUE(ends());
  EXPECT_EQ(status.containers[0].state.reason, "StartError");
  EXPECT_THAT(status.containers[0].state.message, HasSubstr("no such file"));
  EXPECT_EQ(ended->exit.code, 128);
}

// A client of the door for streams.
struct PodStreamsLive : PodsLive {
  void SetUp() override {
    PodsLive::SetUp();
    if (IsSkipped()) return;
    commands = std::make_unique<cri::CriCommands>(client, folder.path("exec"));
    streams = *PodStreams::open({.path = folder.path("door"), .directory = pods->directory(),
                                 .images = commands.get()});
  }
  void TearDown() override {
    streams.reset();
    PodsLive::TearDown();
  }
  void running(PodLaunch launch) {
    run(std::move(launch));
    ASSERT_TRUE(until([&] { return !status.containers.empty() &&
                                   status.containers[0].state.phase == ContainerPhase::running; }));
    pods->turn();
  }
  Fd ask(PodAttach wish) {
    wish.job = JobId(17);
    wish.attempt = 1;
    if (wish.container.empty()) wish.container = "c";
    Fd socket = *connect_stream(folder.path("door"));
    const std::string bytes = frame(encode(wish));
    EXPECT_EQ(::send(socket.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
    return socket;
  }
  static void say(const Fd& socket, const PodUp& up) {
    const std::string bytes = frame(encode(up));
    EXPECT_EQ(::send(socket.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  }
  struct Heard {
    PodAttached answer{.error = "nothing heard"};
    std::string out, err;
    std::optional<PodStreamEnded> ended;
  };
  // Until its end, or until `enough` is in the output.
  static Heard hear(const Fd& socket, const std::string& enough = "") {
    Heard heard;
    std::string arrived;
    bool first = true;
    const Duration until = since_boot() + seconds(10);
    while (since_boot() < until && !heard.ended) {
      pollfd ready{.fd = socket.get(), .events = POLLIN};
      ::poll(&ready, 1, 100);
      std::array<char, 4096> piece{};
      const ssize_t n = ::recv(socket.get(), piece.data(), piece.size(), MSG_DONTWAIT);
      if (n == 0) break;
      if (n > 0) arrived.append(piece.data(), static_cast<std::size_t>(n));
      std::string_view rest = arrived;
      for (bool whole = true; whole;) {
        const auto message = take_frame(rest, whole);
        if (!message || !whole) break;
        if (std::exchange(first, false)) {
          heard.answer = *decode<PodAttached>(*message);
          continue;
        }
        const auto down = decode<PodDown>(*message);
        if (const auto* said = std::get_if<PodOutput>(&*down)) (said->error ? heard.err : heard.out) += said->bytes;
        if (const auto* last = std::get_if<PodStreamEnded>(&*down)) heard.ended = *last;
      }
      arrived = std::string(rest);
      if (!enough.empty() && heard.out.find(enough) != std::string::npos) break;
    }
    return heard;
  }

  std::unique_ptr<cri::CriCommands> commands;
  std::unique_ptr<PodStreams> streams;
};

TEST_F(PodStreamsLive, CommandsRunInAContainerWithTheirInputAndTheirExit) {
  running({.containers = {shell("sleep 1000")}});
  Fd socket = ask({.kind = PodStreamKind::exec, .command = {"/bin/sh", "-c", "cat; echo err >&2; exit 3"},
                   .input = true});
  say(socket, PodInput{.bytes = "hello\n"});
  say(socket, PodInput{.last = true});
  const Heard heard = hear(socket);
  EXPECT_EQ(heard.answer.error, "");
  EXPECT_EQ(heard.out, "hello\n");
  EXPECT_EQ(heard.err, "err\n");
  ASSERT_TRUE(heard.ended);
  EXPECT_EQ(heard.ended->exit.code, 3);
  const Heard missing = hear(ask({.kind = PodStreamKind::exec, .command = {"/no/such"}}));
  ASSERT_TRUE(missing.ended);
  EXPECT_THAT(missing.ended->failure, HasSubstr("no such file"));
  EXPECT_TRUE(hear(ask({.container = "nobody", .kind = PodStreamKind::exec})).answer.missing);
}

TEST_F(PodStreamsLive, ATerminalHasASizeAndAPrompt) {
  running({.containers = {shell("sleep 1000")}});
  Fd socket = ask({.kind = PodStreamKind::exec, .command = {"/bin/sh"}, .input = true, .terminal = true});
  EXPECT_THAT(hear(socket, "# ").out, HasSubstr("# "));
  say(socket, PodResize{.rows = 33, .columns = 101});
  say(socket, PodInput{.bytes = "sleep 0.3; stty size; exit 5\n"});
  const Heard heard = hear(socket);
  EXPECT_THAT(heard.out, HasSubstr("33 101"));
  ASSERT_TRUE(heard.ended);
  EXPECT_EQ(heard.ended->exit.code, 5);
}

TEST_F(PodStreamsLive, ACommandWhoseClientIsGoneIsKilled) {
  running({.containers = {shell("sleep 1000")}});
  { const Fd socket = ask({.kind = PodStreamKind::exec, .command = {"/bin/sh", "-c", "echo here; sleep 777"}});
    EXPECT_EQ(hear(socket, "here").out, "here\n"); }
  EXPECT_TRUE(testing::poll_until([&] {
    return hear(ask({.kind = PodStreamKind::exec, .command = {"ps"}})).out.find("sleep 777") == std::string::npos;
  }));
}

TEST_F(PodStreamsLive, LogsAreFollowedToTheContainersEnd) {
  running({.restart = RestartPolicy::never, .containers = {shell("echo one; echo two >&2; sleep 1; echo three")}});
  const Fd socket = ask({.kind = PodStreamKind::log, .follow = true});
  ASSERT_TRUE(ends());
  const Heard heard = hear(socket);
  EXPECT_EQ(heard.out, "one\nthree\n");
  EXPECT_EQ(heard.err, "two\n");
  EXPECT_TRUE(heard.ended);
  EXPECT_EQ(hear(ask({.kind = PodStreamKind::log, .tail = 1})).out, "three\n");
  EXPECT_TRUE(hear(ask({.kind = PodStreamKind::log, .previous = true})).answer.missing);
}

TEST_F(PodStreamsLive, AShellIsAttachedTo) {
  PodContainer one{.name = "c", .image = testing::kImage, .command = {"/bin/sh"}, .input = true, .terminal = true};
  running({.containers = {one}});
  const Fd socket = ask({.kind = PodStreamKind::attach, .input = true, .terminal = true});
  say(socket, PodResize{.rows = 20, .columns = 77});
  say(socket, PodInput{.bytes = "sleep 0.3; stty size\n"});
  EXPECT_THAT(hear(socket, "20 77").out, HasSubstr("20 77"));
}

TEST_F(PodStreamsLive, APortIsReached) {
  running({.containers = {shell("while true; do echo hi | nc -l -p 18181; done")}});
  Heard heard;
  EXPECT_TRUE(testing::poll_until([&] {
    heard = hear(ask({.kind = PodStreamKind::port, .port = 18181}), "hi");
    return heard.answer.error.empty();
  }));
  EXPECT_EQ(heard.out, "hi\n");
}

}  // namespace
}  // namespace drover::agent
