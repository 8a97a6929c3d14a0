// What every driver promises, tried on all of them.
#include <gtest/gtest.h>

#include "agent/driver/scripted.h"
#include "agent/driver/testing.h"

namespace drover::agent {
namespace {

// A job that lasts and ends as told.
struct Wish {
  Duration run_for{};
  int exit_code = 0;
  bool ignores_term = false;
};

struct Played {
  Instant now = Instant(seconds(1000));
  ScriptedDriver driver_{[this] { return now; }};
  Driver& driver() { return driver_; }
  [[nodiscard]] static StartSpec job(const Wish& wish) {
    return {.script = "run-for=" + std::to_string(wish.run_for.count()) + "ms exit=" + std::to_string(wish.exit_code) +
                      (wish.ignores_term ? " ignores-term" : "")};
  }
  [[nodiscard]] static StartSpec broken() { return {.script = "cannot-start"}; }
  void pass_time() { now += Duration(10); }
};

struct Real {
  testing::Node node;
  Driver& driver() { return node.driver(); }
  [[nodiscard]] StartSpec job(const Wish& wish) const {
    const std::string trap = wish.ignores_term ? "trap '' TERM; " : "";
    return node.shell(trap + "sleep " + std::to_string(static_cast<double>(wish.run_for.count()) / 1000) + "; exit " +
                      std::to_string(wish.exit_code));
  }
  [[nodiscard]] static StartSpec broken() { return {.argv = {"/nonexistent/program"}}; }
  static void pass_time() { ::poll(nullptr, 0, 5); }
};

template <class World>
class DriverContract : public ::testing::Test {
 protected:
  World world_;
  Driver& driver() { return world_.driver(); }
  void start(const std::string& key, const StartSpec& spec) {
    const Status started = driver().start(key, spec);
    ASSERT_TRUE(started.has_value()) << started.error().message;
  }
  // Follows the changes until the attempt is in `state`.
  Attempt follow(const std::string& key, AttemptState state) {
    for (int i = 0; i < 2000; ++i) {
      for (const Attempt& attempt : driver().changes()) {
        if (attempt.key == key && attempt.state == state) return attempt;
      }
      world_.pass_time();
    }
    ADD_FAILURE() << key << " never became " << word(state);
    return {};
  }
};

using Worlds = ::testing::Types<Played, Real>;
TYPED_TEST_SUITE(DriverContract, Worlds);

TYPED_TEST(DriverContract, AJobRunsAndItsExitCodeIsTold) {
  this->start("1.0", this->world_.job({.run_for = Duration(100), .exit_code = 7}));
  const Attempt running = this->follow("1.0", AttemptState::running);
  EXPECT_TRUE(running.started.has_value());
  const Attempt ended = this->follow("1.0", AttemptState::ended);
  ASSERT_TRUE(ended.ended.has_value());
  EXPECT_EQ(ended.ended->cause, Cause::exited);
  EXPECT_EQ(ended.ended->exit_code, 7);
  EXPECT_GE(ended.ended->at, ended.started->at + Duration(90));
  EXPECT_TRUE(this->driver().changes().empty());
}

TYPED_TEST(DriverContract, AnAttemptIsStartedOnceAndKeptUntilForgotten) {
  this->start("1.0", this->world_.job({}));
  EXPECT_EQ(this->driver().start("1.0", this->world_.job({})).error().code, Errc::conflict);
  this->follow("1.0", AttemptState::ended);
  EXPECT_EQ(this->driver().start("1.0", this->world_.job({})).error().code, Errc::conflict);
  EXPECT_EQ(this->driver().list().size(), 1U);
  EXPECT_TRUE(this->driver().forget("1.0").has_value());
  EXPECT_TRUE(this->driver().list().empty());
  EXPECT_TRUE(this->driver().forget("1.0").has_value());
}

TYPED_TEST(DriverContract, ARunningAttemptIsNotForgotten) {
  this->start("1.0", this->world_.job({.run_for = seconds(60)}));
  this->follow("1.0", AttemptState::running);
  EXPECT_EQ(this->driver().forget("1.0").error().code, Errc::conflict);
}

TYPED_TEST(DriverContract, NamesThatAreNoPathComponentsAreRefused) {
  for (const char* key : {"", ".", "..", "a/b", "$(touch pwn);../../x", "a b", "a\n"}) {
    EXPECT_EQ(this->driver().start(key, this->world_.job({})).error().code, Errc::invalid) << key;
  }
}

TYPED_TEST(DriverContract, TerminateEndsAJobAndItsReasonComesBack) {
  this->start("1.0", this->world_.job({.run_for = seconds(60)}));
  this->follow("1.0", AttemptState::running);
  ASSERT_TRUE(this->driver().tell("1.0", Terminate{.grace = seconds(30), .reason = "cancelled by 1000"}).has_value());
  const Attempt ended = this->follow("1.0", AttemptState::ended);
  EXPECT_EQ(ended.ended->cause, Cause::terminated);
  EXPECT_EQ(ended.ended->reason, "cancelled by 1000");
  EXPECT_EQ(ended.ended->signal, SIGTERM);
}

TYPED_TEST(DriverContract, ATerminateRightBehindTheStartIsNotLost) {
  this->start("1.0", this->world_.job({.run_for = seconds(60)}));
  ASSERT_TRUE(this->driver().tell("1.0", Terminate{.grace = {}, .reason = "never mind"}).has_value());
  EXPECT_EQ(this->follow("1.0", AttemptState::ended).ended->cause, Cause::terminated);
}

TYPED_TEST(DriverContract, AJobThatIgnoresTermIsKilledAfterTheGrace) {
  this->start("1.0", this->world_.job({.run_for = seconds(60), .ignores_term = true}));
  const Attempt running = this->follow("1.0", AttemptState::running);
  for (int i = 0; i < 30; ++i) this->world_.pass_time();  // the shell sets its trap
  ASSERT_TRUE(this->driver().tell("1.0", Terminate{.grace = Duration(200)}).has_value());
  const Attempt ended = this->follow("1.0", AttemptState::ended);
  EXPECT_EQ(ended.ended->signal, SIGKILL);
  EXPECT_GE(ended.ended->at, running.started->at + Duration(200));
}

TYPED_TEST(DriverContract, ATimeLimitIsKept) {
  StartSpec spec = this->world_.job({.run_for = seconds(60)});
  spec.time_limit = Duration(200);
  this->start("1.0", spec);
  const Attempt ended = this->follow("1.0", AttemptState::ended);
  EXPECT_EQ(ended.ended->cause, Cause::time_limit);
  EXPECT_GE(ended.ended->at, ended.started->at + Duration(190));
}

TYPED_TEST(DriverContract, ATimeLimitCanBeMovedWhileTheJobRuns) {
  this->start("1.0", this->world_.job({.run_for = seconds(60)}));
  this->follow("1.0", AttemptState::running);
  ASSERT_TRUE(this->driver().tell("1.0", SetTimeLimit{.limit = Duration(150)}).has_value());
  EXPECT_EQ(this->follow("1.0", AttemptState::ended).ended->cause, Cause::time_limit);
}

TYPED_TEST(DriverContract, AJobThatCannotStartSaysWhy) {
  this->start("1.0", this->world_.broken());
  const Attempt ended = this->follow("1.0", AttemptState::ended);
  EXPECT_EQ(ended.ended->cause, Cause::not_started);
  EXPECT_NE(ended.ended->exit_code, 0);
  EXPECT_FALSE(ended.ended->message.empty());
}

TYPED_TEST(DriverContract, TellingNobodyIsNotFoundAndTellingAnEndedOneIsFine) {
  EXPECT_EQ(this->driver().tell("9.0", Terminate{}).error().code, Errc::not_found);
  this->start("1.0", this->world_.job({}));
  this->follow("1.0", AttemptState::ended);
  EXPECT_TRUE(this->driver().tell("1.0", Terminate{}).has_value());
}

}  // namespace
}  // namespace drover::agent
