#include "agent/session/steward.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "agent/driver/scripted.h"
#include "os/temp_folder.h"

namespace drover::agent {
namespace {

struct Fixture : testing::Test {
  Fixture()
      : driver([this] { return now; }),
        journal(*Journal::open(folder.path("journal"))),
        runner(driver, {.devices = {{.uuid = "gpu-a"}, {.uuid = "gpu-b"}}}),
        steward({.send = [this](const FromAgent& m) { sent.push_back(m); },
                 .say = [this](const std::string& line) { said.push_back(line); }},
                runner, journal) {}

  bool welcome(std::string cluster = "c1", std::uint64_t epoch = 1) {
    return steward.on_message(Welcome{.cluster_id = std::move(cluster), .epoch = Epoch(epoch), .node = NodeId(1)});
  }
  static WantedEntry entry(std::uint64_t job, std::vector<std::string> devices = {}, std::uint32_t attempt = 1) {
    Launch launch{.uid = ::geteuid(), .script = {.words = {7}}, .device_uuids = std::move(devices)};
    return {.job = JobId(job), .attempt = attempt, .launch = launch};
  }
  static WantedEntry step(std::uint32_t number, const std::string& play, std::vector<std::string> devices = {}) {
    StepLaunch launch{.uid = ::geteuid(), .tasks = {{.argv = {play}}}, .device_uuids = std::move(devices)};
    launch.job_device_uuids = launch.device_uuids;
    return {.job = JobId(1), .attempt = 1, .step = number, .step_launch = launch};
  }
  static WantedEntry hold() {
    return {.job = JobId(1), .attempt = 1, .launch = Launch{.uid = ::geteuid(), .run = false}};
  }
  static WantedEntry end_of(WantedEntry entry) {
    return {.job = entry.job, .attempt = entry.attempt, .end = true, .end_cause = drover::Cause::cancelled,
            .step = entry.step};
  }
  // "1" for the end of the job, "1.0" for that of its first step.
  std::vector<std::string> told() {
    std::vector<std::string> names;
    for (const FromAgent& m : sent) {
      const auto* report = std::get_if<Report>(&m);
      if (report == nullptr) continue;
      if (const auto* ended = std::get_if<ReportEnded>(&report->body))
        names.push_back(std::to_string(ended->job.value()));
      if (const auto* ended = std::get_if<ReportStepEnded>(&report->body)) {
        names.push_back(std::to_string(ended->job.value()) + "." + std::to_string(ended->step));
      }
    }
    return names;
  }
  void want(std::vector<WantedEntry> entries, bool full = false, std::uint64_t epoch = 1) {
    ASSERT_TRUE(steward.on_message(Wanted{.epoch = Epoch(epoch), .revision = Revision(++revision), .full = full,
                                          .entries = std::move(entries)}));
  }
  void script(std::string text) {
    ASSERT_TRUE(steward.on_message(PayloadBody{.hash = {.words = {7}}, .bytes = std::move(text)}));
  }
  std::vector<ReportEnded> ends() {
    std::vector<ReportEnded> ends;
    for (const FromAgent& m : sent) {
      const auto* report = std::get_if<Report>(&m);
      if (report == nullptr) continue;
      if (const auto* ended = std::get_if<ReportEnded>(&report->body)) ends.push_back(*ended);
    }
    return ends;
  }
  void advance(Duration by) {
    now += by;
    steward.look(now.time_since_epoch());
  }

  Instant now{seconds(1000)};
  TempFolder folder;
  ScriptedDriver driver;
  Journal journal;
  std::vector<FromAgent> sent;
  std::vector<std::string> said;
  Runner runner;
  Steward steward;
  std::uint64_t revision = 0;
};

TEST_F(Fixture, StartsOnceHoweverOftenItIsWanted) {
  ASSERT_TRUE(welcome());
  script("run-for=10s exit=3");
  want({entry(1)});
  want({entry(1)}, true);
  EXPECT_EQ(driver.list().size(), 1U);
  advance(seconds(11));
  ASSERT_EQ(ends().size(), 1U);
  EXPECT_EQ(ends()[0].exit.code, 3);
  EXPECT_EQ(ends()[0].cause, drover::Cause::failed);
  want({entry(1)});
  EXPECT_EQ(driver.list().size(), 1U);
}

TEST_F(Fixture, AsksForAScriptAndStartsWhenItComes) {
  ASSERT_TRUE(welcome());
  want({entry(1)});
  EXPECT_TRUE(driver.list().empty());
  EXPECT_TRUE(std::holds_alternative<NeedPayload>(sent.back()));
  script("run-for=1s");
  EXPECT_EQ(driver.list().size(), 1U);
}

TEST_F(Fixture, AbsenceEndsNothingAndAnEndIsExplicit) {
  ASSERT_TRUE(welcome());
  script("run-for=100s");
  want({entry(1)});
  want({}, true);
  advance(seconds(1));
  EXPECT_TRUE(ends().empty());
  WantedEntry end{.job = JobId(1), .attempt = 1, .end = true, .end_cause = drover::Cause::requeued};
  want({end});
  advance(seconds(1));
  ASSERT_EQ(ends().size(), 1U);
  EXPECT_EQ(ends()[0].cause, drover::Cause::requeued);
}

TEST_F(Fixture, AnEndOfWhatNeverStartedIsReportedAtOnce) {
  ASSERT_TRUE(welcome());
  want({WantedEntry{.job = JobId(5), .attempt = 2, .end = true, .end_cause = drover::Cause::cancelled}});
  ASSERT_EQ(ends().size(), 1U);
  EXPECT_EQ(ends()[0].cause, drover::Cause::cancelled);
}

TEST_F(Fixture, EverythingIsReportedAgainOnANewSession) {
  ASSERT_TRUE(welcome());
  script("run-for=1s");
  want({entry(1)});
  steward.on_closed();
  advance(seconds(2));
  EXPECT_TRUE(ends().empty());
  EXPECT_EQ(steward.held().size(), 1U);
  ASSERT_TRUE(welcome());
  ASSERT_EQ(ends().size(), 1U);
  ASSERT_TRUE(steward.on_message(Wanted{.epoch = Epoch(1), .revision = Revision(9), .full = true}));
  EXPECT_TRUE(driver.list().empty()) << "its end is known to the controller, so its records go";
}

TEST_F(Fixture, AnOlderLeaderAndAnotherClusterAreRefused) {
  ASSERT_TRUE(welcome("c1", 5));
  EXPECT_FALSE(welcome("c1", 4));
  EXPECT_FALSE(welcome("c2", 6));
  script("run-for=1s");
  want({entry(1)}, false, 4);
  EXPECT_TRUE(driver.list().empty());
}

TEST_F(Fixture, ADeviceThatIsStillHeldIsNotGivenAgain) {
  ASSERT_TRUE(welcome());
  script("run-for=100s");
  want({entry(1, {"gpu-a"}), entry(2, {"gpu-a"})});
  ASSERT_EQ(ends().size(), 1U);
  EXPECT_EQ(ends()[0].job, JobId(2));
  EXPECT_EQ(ends()[0].cause, drover::Cause::launch_failed);
  EXPECT_EQ(ends()[0].note, "device gpu-a is in use: 1000/1000 of it");
}

using Names = std::vector<std::string>;

TEST_F(Fixture, KeysOfJobsAndStepsReadBack) {
  const Steward::Key job{JobId(17), 2};
  const Steward::Key step{JobId(17), 2, 0};
  EXPECT_EQ(key_text(job), "17.2");
  EXPECT_EQ(key_text(step), "17.2.0");
  EXPECT_EQ(parse_key("17.2"), job);
  EXPECT_EQ(parse_key("17.2.0"), step);
  for (const char* bad : {"", "17", "17.2.", "17.2.0.0", "17.x", "17.2.4294967291"})
    EXPECT_FALSE(parse_key(bad)) << bad;
}

TEST_F(Fixture, AStepStartsOnceAndItsEndIsReported) {
  ASSERT_TRUE(welcome());
  want({hold(), step(0, "run-for=1s exit=3")});
  want({hold(), step(0, "run-for=1s exit=3")}, true);
  EXPECT_EQ(steward.held().size(), 2U);
  EXPECT_FALSE(steward.is_over("1.1.0"));
  advance(seconds(2));
  ASSERT_EQ(told(), (Names{"1.0"}));
  EXPECT_TRUE(steward.is_over("1.1.0"));
  const auto& report = std::get<ReportStepEnded>(std::get<Report>(sent.back()).body);
  EXPECT_EQ(report.exit.code, 3);
  EXPECT_EQ(report.cause, drover::Cause::failed);
  ASSERT_TRUE(steward.on_message(Wanted{.epoch = Epoch(1), .revision = Revision(9), .gone = {{JobId(1), 1, 0}}}));
  EXPECT_EQ(steward.held().size(), 1U);
}

TEST_F(Fixture, AJobsEndIsToldAfterThoseOfItsSteps) {
  ASSERT_TRUE(welcome());
  want({hold(), step(0, "run-for=60s ignores-term"), step(1, "run-for=60s")});
  WantedEntry end = end_of(hold());
  end.grace = seconds(5);
  want({end});
  advance(seconds(1));
  EXPECT_EQ(told(), (Names{"1.1"}));
  advance(seconds(5));
  EXPECT_EQ(told(), (Names{"1.1", "1.0", "1"}));
}

TEST_F(Fixture, AScriptsEndWaitsForItsStepsAlsoOnANewSession) {
  ASSERT_TRUE(welcome());
  script("run-for=1s");
  want({entry(1), step(0, "run-for=10s")});
  advance(seconds(2));
  EXPECT_TRUE(told().empty());
  steward.on_closed();
  ASSERT_TRUE(welcome());
  EXPECT_TRUE(told().empty());
  advance(seconds(10));
  EXPECT_EQ(told(), (Names{"1.0", "1"}));
}

TEST_F(Fixture, AStepUsesItsJobsDevicesAndNobodyElsesDo) {
  ASSERT_TRUE(welcome());
  script("run-for=100s");
  want({entry(1, {"gpu-a"}), step(0, "run-for=100s", {"gpu-a"})});
  EXPECT_TRUE(told().empty());
  want({entry(2, {"gpu-a"})});
  EXPECT_EQ(told(), (Names{"2"}));
}

TEST_F(Fixture, AnEndOfAStepThatNeverCameIsReportedAtOnce) {
  ASSERT_TRUE(welcome());
  want({hold(), end_of(step(4, ""))});
  EXPECT_EQ(told(), (Names{"1.4"}));
}

TEST_F(Fixture, AHoldOutlivesTheAgent) {
  ASSERT_TRUE(welcome());
  want({hold()});
  Journal again = *Journal::open(folder.path("journal"));
  Steward next({.send = [](const FromAgent&) {}, .say = [](const std::string&) {}}, runner, again);
  ASSERT_EQ(next.held().size(), 1U);
  EXPECT_EQ(next.held()[0], (HeldAttempt{JobId(1), 1}));
  ASSERT_TRUE(next.on_message(Welcome{.cluster_id = "c1", .epoch = Epoch(1), .node = NodeId(1)}));
  ASSERT_TRUE(next.on_message(Wanted{.epoch = Epoch(1), .revision = Revision(9), .full = true}));
  EXPECT_TRUE(next.held().empty());
}

TEST_F(Fixture, TheDigestFollowsTheSet) {
  ASSERT_TRUE(welcome());
  script("run-for=100s");
  want({entry(1), entry(2)});
  const std::uint64_t digest = digest_of(JobId(1), 1, kBatchStep, false) + digest_of(JobId(2), 1, kBatchStep, false);
  EXPECT_EQ(steward.heartbeat(0, {}).digest, digest);
}

}  // namespace
}  // namespace drover::agent
