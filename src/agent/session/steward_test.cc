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

TEST_F(Fixture, TheDigestFollowsTheSet) {
  ASSERT_TRUE(welcome());
  script("run-for=100s");
  want({entry(1), entry(2)});
  const std::uint64_t digest = digest_of(JobId(1), 1, kBatchStep, false) + digest_of(JobId(2), 1, kBatchStep, false);
  EXPECT_EQ(steward.heartbeat(0, {}).digest, digest);
}

}  // namespace
}  // namespace drover::agent
