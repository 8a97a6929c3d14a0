#include "store/history/history.h"

#include <gtest/gtest.h>

#include "os/temp_folder.h"

namespace drover::store {
namespace {

const std::string kCluster(32, 'c');

Instant at(int second) { return Instant(seconds(second)); }

class HistoryTest : public testing::Test {
 protected:
  void SetUp() override { reopen(); }
  void reopen() {
    history_.reset();
    auto opened = History::open(temp_.path("history.db"), kCluster);
    ASSERT_TRUE(opened) << opened.error().message;
    history_ = std::move(opened).value();
  }
  void put(std::vector<HistoryRow> rows) { ASSERT_TRUE(history_->upsert(++position_, rows)); }
  // "1 2.1" = job 1, job 2 after one restart.
  std::string found(const HistoryFilter& filter) {
    const auto rows = history_->query(filter);
    if (!rows) return rows.error().message;
    std::string text;
    for (const HistoryRow& row : *rows) {
      text += (text.empty() ? "" : " ") + std::to_string(row.job);
      if (row.restart > 0) text += "." + std::to_string(row.restart);
    }
    return text;
  }
  // Waited 10 to 20, ran 20 to 30.
  static HistoryRow ended(std::uint64_t job, int offset = 0) {
    return {.job = job, .name = "train", .user = "ada", .account = "ml", .partition = "gpu", .state = "COMPLETED",
            .submit = at(offset + 10), .eligible = at(offset + 10), .start = at(offset + 20), .end = at(offset + 30)};
  }

  TempFolder temp_;
  std::unique_ptr<History> history_;
  std::uint64_t position_ = 0;
};

TEST_F(HistoryTest, ARowComesBackWholeWithItsSteps) {
  HistoryRow row = ended(7);
  row.array_job = 5;
  row.array_task = 0;
  row.cancelled_by = 0;
  row.time_limit_minutes = 90;
  row.allocated_tres = "cpu=4,gres/gpu=2";
  row.steps = {{.name = "batch", .state = "FAILED", .exit_code = 3, .start = at(20), .end = at(30), .user_cpu_ms = 1200,
                .max_rss_bytes = 5 << 20, .tres = "cpu=4"},
               {.name = "0", .title = "hostname"}};
  put({row});
  reopen();
  const auto rows = history_->query({});
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 1U);
  EXPECT_EQ(rows->front(), row);
  EXPECT_EQ(*history_->position(), 1U);
  EXPECT_EQ(*history_->settle(), 1U);
}

TEST_F(HistoryTest, AnAttemptIsReplacedAndARequeueIsARowOfItsOwn) {
  HistoryRow first = ended(2);
  first.end = Instant{};
  put({ended(9), first});
  first.end = at(25);
  first.state = "NODE_FAIL";
  HistoryRow second = ended(2, 20);
  second.restart = 1;
  put({first, second});
  EXPECT_EQ(found({}), "2.1 9");
  EXPECT_EQ(found({.all_attempts = true}), "2 2.1 9");
  EXPECT_EQ(found({.ended_as = {"NODE_FAIL"}, .all_attempts = true}), "2");
  EXPECT_EQ(found({.all_attempts = true, .limit = 2}), "2 2.1");
}

TEST_F(HistoryTest, APositionThatIsInAlreadyChangesNothing) {
  put({ended(1)});
  ASSERT_TRUE(history_->upsert(1, std::vector{ended(2)}));
  EXPECT_EQ(found({}), "1");
}

TEST_F(HistoryTest, FiltersJoin) {
  HistoryRow bio = ended(2);
  bio.user = "bob";
  bio.account = "bio";
  bio.partition = "cpu";
  HistoryRow task = ended(4);
  task.array_job = 3;
  task.array_task = 1;
  HistoryRow leader = ended(3);
  leader.array_job = 3;
  leader.array_task = 2;
  leader.name = "x' OR 1=1 --";
  put({ended(1), bio, leader, task});
  EXPECT_EQ(found({.users = {"bob", "eve"}}), "2");
  EXPECT_EQ(found({.users = {"ada"}, .accounts = {"bio"}}), "");
  EXPECT_EQ(found({.names = {"x' OR 1=1 --"}}), "3");
  EXPECT_EQ(found({.partitions = {"cpu", "gpu"}}), "1 2 3 4");
  EXPECT_EQ(found({.jobs = {{.id = 3}, {.id = 1}}}), "1 3 4");
  EXPECT_EQ(found({.jobs = {{.id = 3, .array_task = 1}, {.id = 2}}}), "2 4");
}

TEST_F(HistoryTest, AWindowShowsWhatLivedInIt) {
  HistoryRow waiting = ended(2);
  waiting.start = waiting.end = Instant{};
  HistoryRow running = ended(3);
  running.end = Instant{};
  HistoryRow held = ended(4);
  held.eligible = held.start = held.end = Instant{};
  put({ended(1), waiting, running, held});
  EXPECT_EQ(found({.since = at(31)}), "2 3 4");
  EXPECT_EQ(found({.since = at(30)}), "1 2 3 4");
  EXPECT_EQ(found({.until = at(9)}), "");
  EXPECT_EQ(found({.since = at(5), .until = at(15)}), "1 2 3 4");
}

TEST_F(HistoryTest, AStateWithinAWindowIsTheOneOfThatTime) {
  HistoryRow waiting = ended(2);
  waiting.start = waiting.end = Instant{};
  HistoryRow running = ended(3);
  running.end = Instant{};
  HistoryRow never_ran = ended(4);
  never_ran.start = Instant{};
  never_ran.state = "CANCELLED";
  put({ended(1), waiting, running, never_ran});
  EXPECT_EQ(found({.waiting = true}), "2");
  EXPECT_EQ(found({.running = true}), "3");
  EXPECT_EQ(found({.waiting = true, .running = true}), "2 3");
  EXPECT_EQ(found({.ended_as = {"COMPLETED"}}), "1");
  EXPECT_EQ(found({.waiting = true, .since = at(12), .until = at(15)}), "1 2 3 4");
  EXPECT_EQ(found({.waiting = true, .since = at(22)}), "2 4");
  EXPECT_EQ(found({.running = true, .since = at(25), .until = at(26)}), "1 3");
  EXPECT_EQ(found({.running = true, .since = at(30)}), "3");
  EXPECT_EQ(found({.ended_as = {"COMPLETED", "CANCELLED"}, .since = at(30), .until = at(40)}), "1 4");
  EXPECT_EQ(found({.ended_as = {"COMPLETED"}, .since = at(31)}), "");
}

TEST_F(HistoryTest, AnotherClusterAndAnotherFormatAreRefused) {
  history_.reset();
  const auto other = History::open(temp_.path("history.db"), std::string(32, 'd'));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, Errc::conflict);
  ASSERT_TRUE(Database::open(temp_.path("history.db"), false)->run("UPDATE meta SET format = 9"));
  const auto later = History::open(temp_.path("history.db"), kCluster);
  ASSERT_FALSE(later);
  EXPECT_NE(later.error().message.find("format 9"), std::string::npos) << later.error().message;
}

TEST_F(HistoryTest, ADamagedRowIsNamedNotServed) {
  put({ended(5)});
  ASSERT_TRUE(Database::open(temp_.path("history.db"), false)->run("UPDATE jobs SET crc = crc + 1"));
  EXPECT_NE(found({}).find("history.db: the row of job 5 is damaged"), std::string::npos) << found({});
}

}  // namespace
}  // namespace drover::store
