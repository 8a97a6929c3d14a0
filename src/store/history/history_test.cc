#include "store/history/history.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>

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
  void put(std::vector<HistoryRow> rows) {
    ASSERT_TRUE(history_->upsert(++position_, rows));
    for (const HistoryRow& row : rows) memory_[{row.job, row.restarts}] = row;
  }
  // "1 2.1" = job 1, job 2 after one restart.
  std::string found(const HistoryQuery& filter) {
    const auto rows = history_->query(filter);
    if (!rows) return rows.error().message;
    if (filter.all_attempts && filter.limit == 0) expect_same_in_memory(filter, *rows);
    std::string text;
    for (const HistoryRow& row : *rows) {
      text += (text.empty() ? "" : " ") + std::to_string(row.job.value());
      if (row.restarts > 0) text += "." + std::to_string(row.restarts);
    }
    return text;
  }
  // Rows that aren't in the file yet are filtered by drover::passes: both must agree.
  void expect_same_in_memory(const HistoryQuery& filter, const std::vector<HistoryRow>& rows) const {
    std::vector<HistoryRow> passing;
    for (const auto& [key, row] : memory_) {
      if (passes(row, filter)) passing.push_back(row);
    }
    EXPECT_EQ(passing, rows);
  }
  // Waited 10 to 20, ran 20 to 30.
  static HistoryRow ended(std::uint64_t job, int offset = 0) {
    return {.job = JobId(job), .name = "train", .user = "ada", .account = "ml", .partition = "gpu",
            .cause = Cause::completed, .submitted = at(offset + 10), .eligible = at(offset + 10),
            .started = at(offset + 20), .ended = at(offset + 30)};
  }

  TempFolder temp_;
  std::unique_ptr<History> history_;
  std::uint64_t position_ = 0;
  std::map<std::pair<JobId, std::uint32_t>, HistoryRow> memory_;
};

TEST_F(HistoryTest, ARowComesBackWhole) {
  HistoryRow row = ended(7);
  row.array = JobId(5);
  row.task = 0;
  row.limit = minutes(90);
  row.gpus = {{.model = "a100", .count = 2}};
  row.nodes = {"n1", "n2"};
  row.usage.peak_memory = Bytes::of(5 << 20);
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
  first.ended = Instant{};
  put({ended(9), first});
  first.ended = at(25);
  first.cause = Cause::node_failed;
  HistoryRow second = ended(2, 20);
  second.restarts = 1;
  put({first, second});
  EXPECT_EQ(found({}), "2.1 9");
  EXPECT_EQ(found({.all_attempts = true}), "2 2.1 9");
  EXPECT_EQ(found({.ended_as = {Cause::node_failed}, .all_attempts = true}), "2");
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
  bio.nodes = {"n6", "n7"};
  HistoryRow task = ended(4);
  task.array = JobId(3);
  task.task = 1;
  HistoryRow leader = ended(3);
  leader.array = JobId(3);
  leader.task = 2;
  leader.name = "x' OR 1=1 --";
  put({ended(1), bio, leader, task});
  EXPECT_EQ(found({.users = {"bob", "eve"}, .all_attempts = true}), "2");
  EXPECT_EQ(found({.users = {"ada"}, .accounts = {"bio"}, .all_attempts = true}), "");
  EXPECT_EQ(found({.names = {"x' OR 1=1 --"}, .all_attempts = true}), "3");
  EXPECT_EQ(found({.partitions = {"cpu", "gpu"}, .all_attempts = true}), "1 2 3 4");
  EXPECT_EQ(found({.nodes = {"n"}, .all_attempts = true}), "");
  EXPECT_EQ(found({.nodes = {"n7"}, .all_attempts = true}), "2");
  EXPECT_EQ(found({.jobs = {{.job = JobId(3)}, {.job = JobId(1)}}, .all_attempts = true}), "1 3 4");
  EXPECT_EQ(found({.jobs = {{.job = JobId(3), .tasks = {{1, 1, 1}}}, {.job = JobId(2)}}, .all_attempts = true}), "2 4");
}

TEST_F(HistoryTest, AWindowShowsWhatLivedInIt) {
  HistoryRow waiting = ended(2);
  waiting.started = waiting.ended = Instant{};
  HistoryRow running = ended(3);
  running.ended = Instant{};
  HistoryRow held = ended(4);
  held.eligible = held.started = held.ended = Instant{};
  put({ended(1), waiting, running, held});
  EXPECT_EQ(found({.since = at(31), .all_attempts = true}), "2 3 4");
  EXPECT_EQ(found({.since = at(30), .all_attempts = true}), "1 2 3 4");
  EXPECT_EQ(found({.until = at(9), .all_attempts = true}), "");
  EXPECT_EQ(found({.since = at(5), .until = at(15), .all_attempts = true}), "1 2 3 4");
}

TEST_F(HistoryTest, AStateWithinAWindowIsTheOneOfThatTime) {
  HistoryRow waiting = ended(2);
  waiting.started = waiting.ended = Instant{};
  HistoryRow running = ended(3);
  running.ended = Instant{};
  HistoryRow never_ran = ended(4);
  never_ran.started = Instant{};
  never_ran.cause = Cause::cancelled;
  put({ended(1), waiting, running, never_ran});
  EXPECT_EQ(found({.waiting = true, .all_attempts = true}), "2");
  EXPECT_EQ(found({.running = true, .all_attempts = true}), "3");
  EXPECT_EQ(found({.waiting = true, .running = true, .all_attempts = true}), "2 3");
  EXPECT_EQ(found({.ended_as = {Cause::completed}, .all_attempts = true}), "1");
  EXPECT_EQ(found({.waiting = true, .since = at(12), .until = at(15), .all_attempts = true}), "1 2 3 4");
  EXPECT_EQ(found({.waiting = true, .since = at(22), .all_attempts = true}), "2 4");
  EXPECT_EQ(found({.running = true, .since = at(25), .until = at(26), .all_attempts = true}), "1 3");
  EXPECT_EQ(found({.running = true, .since = at(30), .all_attempts = true}), "3");
  EXPECT_EQ(found({.ended_as = {Cause::completed, Cause::cancelled}, .since = at(30), .until = at(40),
                   .all_attempts = true}), "1 4");
  EXPECT_EQ(found({.ended_as = {Cause::completed}, .since = at(31), .all_attempts = true}), "");
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

TEST_F(HistoryTest, StepsComeWithTheirAttemptWhenAskedFor) {
  HistoryRow second = ended(1, 100);
  second.restarts = 1;
  put({ended(1)});
  const StepRow first{.number = 0, .name = "a", .cause = Cause::failed, .exit = {.code = 3}, .nodes = {"n1"}};
  const StepRow other{.number = 1, .name = "b", .cause = Cause::completed};
  const std::vector<EndedStep> steps{{JobId(1), 0, other}, {JobId(1), 0, first}, {JobId(1), 1, other}};
  ASSERT_TRUE(history_->upsert(++position_, std::vector<HistoryRow>{second}, steps));
  reopen();
  auto rows = history_->query({.all_attempts = true, .steps = true});
  ASSERT_TRUE(rows) << rows.error().message;
  ASSERT_EQ(rows->size(), 2U);
  EXPECT_EQ(rows->at(0).steps, (std::vector<StepRow>{first, other}));
  EXPECT_EQ(rows->at(1).steps, (std::vector<StepRow>{other}));
  EXPECT_TRUE(history_->query({})->at(0).steps.empty()) << "not asked for";
  EXPECT_EQ(history_->steps(JobId(1), 0)->size(), 2U);
  EXPECT_TRUE(history_->steps(JobId(2), 0)->empty());
}

}  // namespace
}  // namespace drover::store
