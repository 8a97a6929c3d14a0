#include "agent/pod/pods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/pod/backoff.h"
#include "agent/pod/environment.h"
#include "agent/pod/testing.h"
#include "base/proto.h"
#include "os/file.h"

namespace drover::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct PodLife : ::testing::Test {
  PodLife() { restart_agent(); }

  Moment now() const { return {.boot = boot, .wall = Instant(seconds(1'000'000) + boot)}; }
  // As a new agent after the death of the old one; the containers go on.
  void restart_agent() {
    pods.reset();
    pods = std::make_unique<Pods>(PodSite{.workers = &workers, .images = images ? &runtime : nullptr,
                                          .why_no_images = "there is no containerd", .host = nullptr,
                                          .groups = &groups, .brief = folder.path("brief"),
                                          .lasting = folder.path("lasting"), .hosts_path = {}, .address = "10.0.0.1",
                                          .clock = [this] { return now(); },
                                          .devices = [](const auto& uuids) {
                                            std::vector<DeviceInfo> found;
                                            for (const std::string& uuid : uuids) found.push_back({.uuid = uuid});
                                            return found;
                                          }});
    pods->start({.need = [this](const NeedPod&) { ++asked; },
                 .report = [this](ReportBody body) { hear(std::move(body)); },
                 .note = [this](PodNotes said) {
                   for (const PodNote& one : said.notes) notes.push_back(one.reason);
                 },
                 .say = [](const std::string& line) { ADD_FAILURE() << line; }});
  }
  void hear(ReportBody body) {
    if (const auto* report = std::get_if<ReportPod>(&body)) {
      status = report->status;
      ++reports;
    }
    if (std::holds_alternative<ReportStarted>(body)) ++starts;
    if (const auto* report = std::get_if<ReportEnded>(&body)) ended = *report;
  }
  static PodContainer container(std::string name, std::vector<std::string> play = {}) {
    return {.name = std::move(name), .image = "busybox", .command = std::move(play)};
  }
  static PodContainer init(std::string name, std::vector<std::string> play) {
    PodContainer one = container(std::move(name), std::move(play));
    one.init = true;
    return one;
  }
  void run(std::vector<PodContainer> containers, RestartPolicy restart = RestartPolicy::always, PodLaunch launch = {}) {
    launch.name = "p";
    launch.space = "default";
    launch.uid = "u";
    launch.restart = restart;
    launch.containers = std::move(containers);
    pods->want(JobId(17), 1, {});
    settle();
    give(launch);
  }
  void give(const PodLaunch& launch) {
    pods->on_body({.job = JobId(17), .attempt = 1, .launch = launch});
    settle();
    boot += Duration(150);  // changes are told at most so often
    settle();
  }
  void settle() {
    for (int i = 0; i < 50; ++i) {
      pods->turn();
      runtime.pump();
    }
  }
  void advance(Duration by) {
    const Duration end = boot + by;
    while (boot < end) {
      boot += std::min(end - boot, Duration(500));
      settle();
    }
  }
  const ContainerStatus& of(std::size_t i = 0) const { return status.containers.at(i); }
  std::string state(std::size_t i = 0) const { return of(i).state.reason; }
  int count(const std::string& note) const { return static_cast<int>(std::ranges::count(notes, note)); }

  Duration boot = seconds(1000);
  TempFolder folder;
  bool images = true;
  Workers workers{0};
  agent::testing::PlayedRuntime runtime{[this] { return now(); }};
  agent::testing::PlayedGroups groups;
  int asked = 0, starts = 0, reports = 0;
  PodStatus status;
  std::optional<ReportEnded> ended;
  std::vector<std::string> notes;
  std::unique_ptr<Pods> pods;
};

TEST_F(PodLife, RunsAPodToItsGoodEnd) {
  run({container("c", {"run-for=5"})}, RestartPolicy::never);
  EXPECT_EQ(of().state.phase, ContainerPhase::running);
  EXPECT_TRUE(of().ready && of().started && status.initialized);
  EXPECT_EQ(of().container_id, "played://c-0");
  EXPECT_EQ(status.pod_ip, "10.0.0.1");
  EXPECT_EQ(starts, 1);
  EXPECT_FALSE(ended);
  advance(seconds(6));
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->cause, drover::Cause::completed);
  EXPECT_EQ(state(), "Completed");
  EXPECT_FALSE(of().ready);
  EXPECT_THAT(runtime.sandboxes, IsEmpty());
  EXPECT_THAT(groups.made, IsEmpty());
  EXPECT_THAT(notes, ElementsAre("Pulled", "Created", "Started"));
  EXPECT_TRUE(pods->forget("17.1").has_value());
}

struct Policy {
  RestartPolicy policy;
  const char* exit;
  bool again;
};
TEST_F(PodLife, RestartsAsItsPolicySays) {
  for (const Policy& one : {Policy{RestartPolicy::always, "exit=0", true},
                            Policy{RestartPolicy::always, "exit=3", true},
                            Policy{RestartPolicy::on_failure, "exit=0", false},
                            Policy{RestartPolicy::on_failure, "exit=3", true},
                            Policy{RestartPolicy::never, "exit=0", false},
                            Policy{RestartPolicy::never, "exit=3", false}}) {
    ended.reset();
    runtime.containers.clear();
    run({container("c", {"run-for=2", one.exit})}, one.policy);
    advance(seconds(3));
    EXPECT_EQ(!ended, one.again) << word(one.policy) << " " << one.exit;
    if (ended) {
      const bool bad = std::string(one.exit) == "exit=3";
      EXPECT_EQ(ended->cause, bad ? drover::Cause::failed : drover::Cause::completed);
      EXPECT_EQ(ended->exit.code, bad ? 3 : 0);
    } else {
      EXPECT_EQ(of().restarts, 1U);
      EXPECT_EQ(of().last->reason, std::string(one.exit) == "exit=3" ? "Error" : "Completed");
      pods->end("17.1", drover::Cause::cancelled, {});
      settle();
    }
    ASSERT_TRUE(pods->forget("17.1").has_value());
    settle();
  }
}

TEST(Backoff, DoublesToFiveMinutesAndTheFirstRestartIsAtOnce) {
  std::vector<std::int64_t> waits;
  for (std::uint32_t i = 1; i <= 8; ++i) waits.push_back(restart_delay(i).count() / 1000);
  EXPECT_THAT(waits, ElementsAre(0, 10, 20, 40, 80, 160, 300, 300));
  EXPECT_EQ(backoff_after(1), seconds(10));
}

TEST_F(PodLife, ACrashingContainerWaitsLongerEachTimeUntilItRunsWell) {
  run({container("c", {"run-for=1", "exit=1"})});
  advance(seconds(3));
  EXPECT_EQ(state(), "CrashLoopBackOff");
  EXPECT_EQ(of().state.message, "back-off 10s restarting failed container=c pod=p_default(u)");
  EXPECT_EQ(of().restarts, 1U);
  EXPECT_EQ(of().last->exit.code, 1);
  advance(seconds(12));
  EXPECT_EQ(of().restarts, 2U);
  EXPECT_THAT(of().state.message, HasSubstr("back-off 20s"));
  EXPECT_GE(count("BackOff"), 2);
}

TEST_F(PodLife, InitContainersRunInOrderAndAFailedOneFailsThePod) {
  run({init("i1", {"run-for=2"}), init("i2", {"run-for=2"}), container("c", {"run-for=2"})}, RestartPolicy::never);
  EXPECT_THAT(runtime.running(), ElementsAre("i1"));
  EXPECT_EQ(state(2), "PodInitializing");
  EXPECT_EQ(starts, 1);
  advance(seconds(3));
  EXPECT_THAT(runtime.running(), ElementsAre("i2"));
  advance(seconds(2));
  EXPECT_THAT(runtime.running(), ElementsAre("c"));
  EXPECT_TRUE(status.initialized && of(0).ready);
  advance(seconds(3));
  EXPECT_EQ(ended->cause, drover::Cause::completed);
  EXPECT_TRUE(pods->forget("17.1").has_value());
  settle();
  runtime.containers.clear();
  ended.reset();
  run({init("i1", {"run-for=1", "exit=4"}), container("c")}, RestartPolicy::never);
  advance(seconds(2));
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->cause, drover::Cause::failed);
  EXPECT_EQ(ended->exit.code, 4);
  EXPECT_EQ(runtime.containers.count("c-0"), 0U);
}

TEST_F(PodLife, ASidecarStartsFirstLivesBesideAndGoesLast) {
  PodContainer side = init("side", {});
  side.sidecar = true;
  run({side, container("c", {"run-for=5"})}, RestartPolicy::never);
  EXPECT_THAT(runtime.running(), ElementsAre("c", "side"));
  advance(seconds(6));
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->cause, drover::Cause::completed);
  EXPECT_EQ(ended->exit.code, 0);
  EXPECT_EQ(of(0).state.exit.code, 143);
}

TEST_F(PodLife, AnEndIsAskedForFirstAndForcedAfterItsGrace) {
  PodContainer stubborn = container("stubborn", {"ignores-term"});
  stubborn.before_stop = {"bye"};
  run({container("meek"), stubborn});
  pods->end("17.1", drover::Cause::cancelled, seconds(10));
  settle();
  EXPECT_THAT(runtime.running(), ElementsAre("stubborn"));
  EXPECT_EQ(count("Killing"), 0);  // still to be told
  advance(seconds(1));
  EXPECT_EQ(count("Killing"), 2);
  EXPECT_EQ(std::ranges::count(runtime.log, "exec bye"), 1);
  EXPECT_FALSE(ended);
  advance(seconds(10));
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->cause, drover::Cause::cancelled);
  EXPECT_EQ(of(0).state.exit.code, 143);
  EXPECT_EQ(of(1).state.exit.code, 137);
}

TEST_F(PodLife, AShorterGraceCountsWhileAnEndIsUnderWay) {
  run({container("c", {"ignores-term"})});
  pods->end("17.1", drover::Cause::cancelled, seconds(300));
  advance(seconds(1));
  EXPECT_FALSE(ended);
  pods->end("17.1", drover::Cause::cancelled, {});
  advance(seconds(1));
  EXPECT_TRUE(ended);
}

TEST_F(PodLife, ImagesAreFoundPulledOrWaitedFor) {
  PodContainer one = container("c");
  one.image = "far";
  run({one});
  EXPECT_EQ(state(), "ErrImagePull");
  advance(seconds(11));
  EXPECT_EQ(state(), "ImagePullBackOff");
  EXPECT_THAT(of().state.message, HasSubstr("Back-off pulling image \"far\""));
  runtime.registry.insert("far");
  advance(seconds(25));
  EXPECT_THAT(runtime.running(), ElementsAre("c"));
  EXPECT_EQ(of().restarts, 0U);
}

TEST_F(PodLife, WhatNeverMayBePulledIsntAndABadNameIsSaid) {
  PodContainer never = container("never");
  never.image = "far";
  never.pull = PullPolicy::never;
  PodContainer bad = container("bad");
  bad.image = "a b";
  run({never, bad});
  EXPECT_EQ(state(0), "ErrImageNeverPull");
  EXPECT_EQ(state(1), "InvalidImageName");
  EXPECT_THAT(runtime.log, ElementsAre("sandbox"));
}

TEST_F(PodLife, AnExecProbeThatFailsRestartsAContainerAndReadinessOnlyHidesIt) {
  PodContainer one = container("c");
  one.liveness = PodProbe{.command = {"alive"}, .period = seconds(2), .failures = 2};
  one.readiness = PodProbe{.command = {"ready"}, .initial_delay = seconds(3), .period = seconds(2)};
  run({one});
  EXPECT_FALSE(of().ready);
  advance(seconds(4));
  EXPECT_TRUE(of().ready);
  runtime.answers["ready"] = 1;
  advance(seconds(7));
  EXPECT_FALSE(of().ready);
  EXPECT_EQ(of().restarts, 0U);
  runtime.answers["alive"] = 1;
  advance(seconds(4));
  EXPECT_EQ(of().restarts, 1U);
  EXPECT_GE(count("Unhealthy"), 2);
}

TEST_F(PodLife, AStartupProbeHoldsTheOthersBack) {
  PodContainer one = container("c");
  one.startup = PodProbe{.command = {"up"}, .period = seconds(1), .failures = 5};
  one.liveness = PodProbe{.command = {"alive"}, .period = seconds(1), .failures = 1};
  runtime.answers = {{"up", 1}, {"alive", 1}};
  run({one});
  advance(seconds(3));
  EXPECT_FALSE(of().started);
  EXPECT_EQ(of().restarts, 0U);
  EXPECT_EQ(std::ranges::count(runtime.log, "exec alive"), 0);
  runtime.answers["up"] = 0;
  runtime.answers["alive"] = 0;
  advance(seconds(2));
  EXPECT_TRUE(of().started && of().ready);
}

TEST_F(PodLife, AHookAfterTheStartThatFailsEndsTheRun) {
  PodContainer one = container("c");
  one.after_start = {"hook"};
  runtime.answers["hook"] = 1;
  run({one}, RestartPolicy::never);
  advance(seconds(1));
  ASSERT_TRUE(ended);
  EXPECT_EQ(count("FailedPostStartHook"), 1);
}

TEST_F(PodLife, ADeadlineEndsThePodWithItsReason) {
  run({container("c")}, RestartPolicy::never, {.deadline = seconds(20)});
  advance(seconds(19));
  EXPECT_FALSE(ended);
  advance(seconds(2));
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->cause, drover::Cause::time_limit);
  EXPECT_EQ(status.reason, "DeadlineExceeded");
}

TEST_F(PodLife, OomAndWhatCannotStartAreTold) {
  run({container("oom", {"run-for=1", "out-of-memory"}), container("none", {"cannot-start"})}, RestartPolicy::never);
  advance(seconds(2));
  EXPECT_EQ(state(0), "OOMKilled");
  EXPECT_EQ(of(0).state.exit.code, 137);
  EXPECT_EQ(state(1), "StartError");
  EXPECT_EQ(of(1).state.exit.code, 128);
  EXPECT_EQ(ended->exit.code, 137);
}

TEST_F(PodLife, WhatAContainerLacksIsAskedForAgain) {
  PodContainer one = container("c");
  one.error = "secret \"s\" not found";
  run({one});
  EXPECT_EQ(state(), "CreateContainerConfigError");
  EXPECT_EQ(of().state.message, one.error);
  const int before = asked;
  advance(seconds(6));
  EXPECT_GT(asked, before);
  give({.name = "p", .space = "default", .uid = "u", .containers = {container("c")}});
  EXPECT_THAT(runtime.running(), ElementsAre("c"));
}

TEST_F(PodLife, ANewAgentTakesThePodUpAndNothingStartsTwice) {
  run({container("c", {"run-for=30", "exit=1"})});
  advance(seconds(31));
  EXPECT_EQ(of().restarts, 1U);
  restart_agent();
  pods->report_all();
  settle();
  EXPECT_EQ(of().restarts, 1U);
  EXPECT_EQ(std::ranges::count(runtime.log, "start c"), 2);
  EXPECT_THAT(runtime.running(), ElementsAre("c"));
  EXPECT_EQ(starts, 2);  // told again, as a new session needs it
  advance(seconds(35));
  EXPECT_EQ(state(), "CrashLoopBackOff");
  restart_agent();
  EXPECT_EQ(std::ranges::count(runtime.log, "start c"), 2);
  advance(seconds(12));
  EXPECT_EQ(of().restarts, 2U);
  EXPECT_THAT(pods->held(), ElementsAre(HeldAttempt{.job = JobId(17), .attempt = 1}));
}

TEST_F(PodLife, AnAgentThatDiedWhileItMadeAContainerFindsIt) {
  runtime.containers.clear();
  run({container("c")});
  // As if its death had come before it heard of the start.
  PodRecord record = pods->find("17.1")->record();
  record.containers[0].stage = Stage::creating;
  record.containers[0].id.clear();
  pods.reset();
  const std::string file = folder.path("brief") + "/17.1/record";
  ASSERT_TRUE(write_file_durably(file, encode(record)).has_value());
  restart_agent();
  settle();
  EXPECT_EQ(std::ranges::count(runtime.log, "start c"), 1);
  EXPECT_EQ(pods->find("17.1")->record().containers[0].stage, Stage::running);
}

TEST_F(PodLife, WithoutARuntimePodsWaitAndSayWhy) {
  images = false;
  restart_agent();
  run({container("c")});
  EXPECT_EQ(state(), "ContainerCreating");
  EXPECT_EQ(of().state.message, "there is no containerd");
  pods->end("17.1", drover::Cause::cancelled, seconds(5));
  settle();
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->cause, drover::Cause::cancelled);
}

TEST_F(PodLife, HostAndImagesDontMix) {
  PodContainer host = container("h");
  host.image = "host";
  run({host, container("c")});
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->cause, drover::Cause::failed);
  EXPECT_EQ(status.reason, "MixedPod");
}

TEST_F(PodLife, ChangesAreToldTogether) {
  run({container("a"), container("b"), container("c"), container("d")});
  advance(seconds(1));
  EXPECT_LE(reports, 4);
}

TEST(ContainerEnvironment, NobodyNamesADeviceButUs) {
  PodContainer one{.environment = {"A=1", "NVIDIA_VISIBLE_DEVICES=all", "CUDA_VISIBLE_DEVICES=0,1"}};
  EXPECT_THAT(container_environment(one, {}), ElementsAre("A=1", "NVIDIA_VISIBLE_DEVICES=void"));
  EXPECT_THAT(container_environment(one, {{.uuid = "GPU-x", .index = 5}}),
              ElementsAre("A=1", "CUDA_VISIBLE_DEVICES=0", "NVIDIA_VISIBLE_DEVICES=GPU-x"));
}

}  // namespace
}  // namespace drover::agent
