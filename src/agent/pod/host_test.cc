// Pods of `image: host`, with a real keeper and real shims.
#include "agent/pod/host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/driver/testing.h"
#include "agent/pod/groups.h"
#include "agent/pod/log.h"
#include "agent/pod/pods.h"

namespace drover::agent {
namespace {

using ::testing::HasSubstr;

struct HostPods : ::testing::Test {
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    node = std::make_unique<testing::Node>(true);
    ::chmod(folder.path().c_str(), 0755);
    restart_agent();
  }
  void TearDown() override {
    if (!pods) return;
    pods->end("17.1", drover::Cause::cancelled, {});
    EXPECT_TRUE(until([&] { return !pods->has("17.1") || pods->is_over("17.1"); }));
    pods.reset();
    groups->remove("17.1");
  }
  void restart_agent() {
    pods.reset();
    node->reopen();
    runner = std::make_unique<Runner>(node->driver(), RunnerOptions{});
    workers = std::make_unique<Workers>();
    host = std::make_unique<HostRuntime>(*runner, *workers);
    groups = std::make_unique<PodCgroups>(node->options().cgroup_root, [](const auto&) {
      return Result<std::vector<DeviceNode>>(std::vector<DeviceNode>{});
    });
    pods = std::make_unique<Pods>(
        PodSite{.workers = workers.get(), .host = host.get(), .groups = groups.get(), .brief = folder.path("brief"),
                .lasting = folder.path("lasting"), .hosts_path = {}, .address = "127.0.0.1",
                .clock = [] { return Moment{.boot = since_boot(), .wall = wall_now()}; },
                .devices = [](const auto&) { return std::vector<DeviceInfo>{}; },
                .host_attempt = [this](const Attempt& attempt) { host->on_attempt(attempt); }});
    pods->start({.need = [](const NeedPod&) {},
                 .report = [this](ReportBody body) {
                   if (const auto* report = std::get_if<ReportPod>(&body)) status = report->status;
                   if (const auto* report = std::get_if<ReportEnded>(&body)) ended = *report;
                 },
                 .note = [](const PodNotes&) {},
                 .say = [](const std::string& line) { ADD_FAILURE() << line; }});
  }
  bool until(const std::function<bool()>& done) {
    return testing::poll_until([&] {
      for (const Attempt& attempt : runner->poll(since_boot())) pods->on_attempt(attempt);
      pods->turn();
      ::poll(nullptr, 0, 5);
      return done();
    });
  }
  static PodContainer shell(const std::string& script, const std::string& name = "c") {
    return {.name = name, .image = "host", .command = {"/bin/sh", "-c", script},
            .environment = {"PATH=/usr/bin:/bin"}};
  }
  void run(PodLaunch launch) {
    launch.name = "p";
    launch.space = "default";
    launch.user = launch.group = 1000;
    launch.host_name = "pod-name";
    pods->want(JobId(17), 1, {});
    pods->on_body({.job = JobId(17), .attempt = 1, .launch = launch});
  }
  bool runs() {
    return until([&] { return !status.containers.empty() &&
                              status.containers[0].state.phase == ContainerPhase::running; });
  }
  bool ends() { return until([&] { return ended.has_value(); }); }
  std::string log(const std::string& name = "c") {
    return log_tail(folder.path("lasting") + "/17.1/logs/" + name + "/0.log", 100, 10000);
  }

  TempFolder folder;
  std::unique_ptr<testing::Node> node;
  std::unique_ptr<Runner> runner;
  std::unique_ptr<Workers> workers;
  std::unique_ptr<HostRuntime> host;
  std::unique_ptr<PodCgroups> groups;
  PodStatus status;
  std::optional<ReportEnded> ended;
  std::unique_ptr<Pods> pods;
};

TEST_F(HostPods, AProcessRunsAsThePodsUserInSpacesOfItsOwn) {
  PodContainer one = shell("id -u; hostname; ls /proc | grep -c '^[0-9]'; cat /mnt/f; echo err >&2; "
                           "grep -c 17.1/c0 /proc/self/cgroup; grep CapEff /proc/self/status; printf part; exit 4");
  one.mounts = {{.volume = "f", .path = "/mnt"}};
  run({.restart = RestartPolicy::never,
       .volumes = {{.name = "f", .kind = VolumeKind::files, .files = {{.path = "f", .bytes = "F\n", .mode = 0400}}}},
       .containers = {one}});
  ASSERT_TRUE(ends());
  EXPECT_EQ(ended->exit.code, 4);
  EXPECT_EQ(ended->cause, drover::Cause::failed);
  EXPECT_THAT(log(), HasSubstr("1000\npod-name\n"));
  EXPECT_THAT(log(), HasSubstr("F\n"));
  EXPECT_THAT(log(), HasSubstr("err\n"));
  EXPECT_THAT(log(), HasSubstr("CapEff:\t0000000000000000\npart\n"));
  EXPECT_FALSE(file_exists("/mnt/f"));
}

TEST_F(HostPods, ItOutlivesTheAgentAndEndsWhenAsked) {
  run({.containers = {shell("trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.1; done")}});
  ASSERT_TRUE(runs());
  ASSERT_TRUE(until([&] { return log() == "up\n"; }));
  restart_agent();
  pods->report_all();
  EXPECT_EQ(status.containers.at(0).restarts, 0U);
  EXPECT_EQ(status.containers.at(0).state.phase, ContainerPhase::running);
  pods->end("17.1", drover::Cause::cancelled, seconds(10));
  ASSERT_TRUE(ends());
  EXPECT_THAT(log(), HasSubstr("bye\n"));
  EXPECT_EQ(status.containers[0].state.exit.code, 0);
}

TEST_F(HostPods, ItsMemoryIsLimitedAndNothingSurvivesIt) {
  PodContainer one = shell("(sleep 1000 &) ; tail /dev/zero");
  one.memory_limit = mebibytes(30);
  run({.restart = RestartPolicy::never, .containers = {one}});
  ASSERT_TRUE(ends());
  EXPECT_EQ(status.containers[0].state.reason, "OOMKilled");
}

TEST_F(HostPods, WhatAHostCannotGiveIsRefused) {
  PodContainer one = shell("true");
  one.security.privileged = true;
  PodContainer nowhere = shell("true", "nowhere");
  nowhere.mounts = {{.volume = "e", .path = "/no/such/folder"}};
  run({.volumes = {{.name = "e"}}, .containers = {one, nowhere}});
  ASSERT_TRUE(until([&] { return status.containers.size() == 2 &&
                                 status.containers[1].state.reason == "CreateContainerError"; }));
  EXPECT_THAT(status.containers[0].state.message, HasSubstr("no capabilities"));
  EXPECT_THAT(status.containers[1].state.message, HasSubstr("/no/such/folder"));
}

}  // namespace
}  // namespace drover::agent
