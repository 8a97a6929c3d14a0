#include "store/memory/faulty_log.h"

#include <gtest/gtest.h>

#include "store/memory/memory_log.h"

namespace drover::store {
namespace {

class FaultyLogTest : public testing::Test {
 protected:
  void append(std::uint64_t position) {
    log_.append({{{.position = position, .epoch = 1}}, {}}, [&](const Appended& a) { answers_.push_back(a.outcome); });
  }
  MemoryLog disk_;
  FaultyLog log_{disk_};
  std::vector<Outcome> answers_;
};

TEST_F(FaultyLogTest, WhatWasNotSyncedIsLostAndWasNotAnswered) {
  append(1);
  log_.hold_back();
  for (std::uint64_t p = 2; p <= 5; ++p) append(p);
  EXPECT_EQ(answers_.size(), 1U);
  EXPECT_EQ(log_.head().position, 1U);
  log_.crash(/*survivors=*/2);
  append(4);
  log_.restart();
  EXPECT_EQ(answers_.size(), 1U);
  EXPECT_EQ(log_.head().position, 3U);
  append(4);
  EXPECT_EQ(answers_, (std::vector{Outcome::stored, Outcome::stored}));
}

TEST_F(FaultyLogTest, ASyncAnswersWhatWaited) {
  log_.hold_back();
  append(1);
  append(2);
  log_.sync();
  EXPECT_EQ(answers_, (std::vector{Outcome::stored, Outcome::stored}));
  EXPECT_EQ(disk_.head().position, 2U);
}

TEST_F(FaultyLogTest, AnUnknownOutcomeIsSettledByReadingBack) {
  for (const bool stored : {true, false}) {
    const std::uint64_t next = disk_.head().position + 1;
    log_.break_next(stored);
    append(next);
    EXPECT_EQ(answers_.back(), Outcome::unknown);
    EXPECT_EQ(disk_.head().position, stored ? next : next - 1);
    append(disk_.head().position + 1);
    EXPECT_EQ(answers_.back(), Outcome::unknown);
    log_.restart();
  }
}

}  // namespace
}  // namespace drover::store
