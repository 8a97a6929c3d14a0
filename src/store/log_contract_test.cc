// What every log promises, tried on each of them.
#include <gtest/gtest.h>

#include <future>

#include "os/temp_folder.h"
#include "store/chain.h"
#include "store/memory/memory_log.h"
#include "store/sqlite/sqlite_log.h"

namespace drover::store {
namespace {

struct InMemory {
  MemoryLog log;
  Log& get() { return log; }
};
struct InSqlite {
  TempFolder folder;
  std::unique_ptr<SqliteLog> log;
  InSqlite() {
    auto opened = SqliteLog::open({.folder = folder.path("state"), .reserve_bytes = 1 << 20});
    if (!opened) ADD_FAILURE() << opened.error().message;
    log = std::move(opened).value();
  }
  Log& get() { return *log; }
};

Record record(std::uint64_t position, std::uint64_t epoch = 1) {
  return Record{.position = position, .epoch = epoch, .at = Instant(seconds(position)),
                .inputs = {"input " + std::to_string(position)}, .facts = {"fact a", "", "fact b"}};
}
Payload payload(std::string bytes) { return Payload{.hash = sha256(bytes), .bytes = std::move(bytes)}; }

template <class Kind>
class LogContract : public testing::Test {
 protected:
  Log& log() { return kind_.get(); }
  Appended append(Batch batch) {
    std::promise<Appended> promise;
    log().append(std::move(batch), [&](const Appended& result) { promise.set_value(result); });
    return promise.get_future().get();
  }
  Appended append(std::uint64_t position, std::uint64_t epoch = 1) { return append({{record(position, epoch)}, {}}); }
  void fill(std::uint64_t first, std::uint64_t last) {
    Batch batch;
    for (std::uint64_t p = first; p <= last; ++p) batch.records.push_back(record(p));
    ASSERT_EQ(append(std::move(batch)).outcome, Outcome::stored);
  }
  std::vector<Record> all(std::uint64_t from = 1) {
    std::vector<Record> records;
    const Status status = log().read(from, [&](const Record& r) { return records.push_back(r), true; });
    EXPECT_TRUE(status) << (status ? "" : status.error().message);
    return records;
  }

 private:
  Kind kind_;
};
using Logs = testing::Types<InMemory, InSqlite>;
TYPED_TEST_SUITE(LogContract, Logs);

TYPED_TEST(LogContract, WhatWasAppendedIsReadBackInOrder) {
  EXPECT_EQ(this->log().first(), 1U);
  this->fill(1, 2000);
  const auto records = this->all();
  ASSERT_EQ(records.size(), 2000U);
  Hash previous = genesis(this->log().cluster()).hash;
  for (std::uint64_t p = 1; p <= 2000; ++p) {
    Record expected = record(p);
    expected.previous = previous;
    ASSERT_EQ(records[p - 1], expected);
    Head head = {.hash = previous};
    head.position = p - 1;
    previous = seal(expected, head).hash;
  }
  EXPECT_EQ(this->log().head(), (Head{.position = 2000, .epoch = 1, .at = Instant(seconds(2000)), .hash = previous}));
  EXPECT_EQ(this->all(1999).size(), 2U);
  EXPECT_TRUE(this->all(2001).empty());
}

TYPED_TEST(LogContract, AVisitEndsWhenItSaysSo) {
  this->fill(1, 10);
  int seen = 0;
  ASSERT_TRUE(this->log().read(1, [&](const Record&) { return ++seen < 3; }));
  EXPECT_EQ(seen, 3);
}

TYPED_TEST(LogContract, AppendsInFlightTogetherAreAnsweredInOrder) {
  std::promise<void> last;
  std::vector<std::uint64_t> answered;
  for (std::uint64_t p = 1; p <= 1000; ++p) {
    this->log().append({{record(p)}, {}}, [&](const Appended& result) {
      EXPECT_EQ(result.outcome, Outcome::stored);
      answered.push_back(result.head.position);
      if (answered.size() == 1000) last.set_value();
    });
  }
  last.get_future().get();
  for (std::uint64_t p = 1; p <= 1000; ++p) EXPECT_EQ(answered[p - 1], p);
}

TYPED_TEST(LogContract, AnotherLeadersRecordsFenceOut) {
  this->fill(1, 3);
  EXPECT_EQ(this->append(4, 7).outcome, Outcome::stored);
  const Appended old = this->append(5, 6);
  EXPECT_EQ(old.outcome, Outcome::fenced);
  EXPECT_NE(old.error.find("epoch 6"), std::string::npos) << old.error;
  EXPECT_EQ(this->append(4, 7).outcome, Outcome::fenced);
  EXPECT_EQ(this->append(6, 7).outcome, Outcome::fenced);
  const Appended half = this->append({{record(5, 7), record(7, 7)}, {payload("lost")}});
  EXPECT_EQ(half.outcome, Outcome::fenced);
  EXPECT_EQ(half.head.position, 4U);
  EXPECT_EQ(this->all().size(), 4U);
  EXPECT_FALSE(this->log().payload(sha256("lost")));
  EXPECT_EQ(this->append(5, 7).outcome, Outcome::stored);
}

TYPED_TEST(LogContract, PayloadsAreStoredOnceByTheirHash) {
  const std::string big(300'000, 'x');
  ASSERT_EQ(this->append({{record(1)}, {payload("script"), payload(big), payload("")}}).outcome, Outcome::stored);
  ASSERT_EQ(this->append({{record(2)}, {payload("script")}}).outcome, Outcome::stored);
  EXPECT_EQ(*this->log().payload(sha256("script")), "script");
  EXPECT_EQ(*this->log().payload(sha256(big)), big);
  EXPECT_EQ(*this->log().payload(sha256("")), "");
  const auto none = this->log().payload(sha256("other"));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Errc::not_found);
}

TYPED_TEST(LogContract, TheNewestSnapshotIsTheOneThatCounts) {
  EXPECT_FALSE(this->log().latest_snapshot()->has_value());
  this->fill(1, 10);
  ASSERT_TRUE(this->log().write_snapshot(4, "state at 4", {}));
  EXPECT_FALSE(this->log().older_snapshot()->has_value());
  ASSERT_TRUE(this->log().write_snapshot(9, std::string(200'000, 's'), {}));
  const auto snapshot = this->log().latest_snapshot();
  ASSERT_TRUE(snapshot && snapshot->has_value());
  EXPECT_EQ((*snapshot)->position, 9U);
  EXPECT_EQ((*snapshot)->bytes, std::string(200'000, 's'));
  EXPECT_EQ((*snapshot)->hash, this->all(10).front().previous);
  EXPECT_EQ((*snapshot)->warning, "");
  const auto older = this->log().older_snapshot();
  ASSERT_TRUE(older && older->has_value());
  EXPECT_EQ((*older)->position, 4U);
  EXPECT_EQ((*older)->bytes, "state at 4");
  EXPECT_FALSE(this->log().write_snapshot(9, "again", {}));
  EXPECT_FALSE(this->log().write_snapshot(11, "of the future", {}));
}

TYPED_TEST(LogContract, TheLogIsCutOnlyBelowTheOlderSnapshot) {
  this->fill(1, 12000);
  EXPECT_FALSE(this->log().trim(5));
  ASSERT_TRUE(this->log().write_snapshot(11000, "a", {}));
  EXPECT_FALSE(this->log().trim(11000));
  ASSERT_TRUE(this->log().write_snapshot(11900, "b", {}));
  const Status too_far = this->log().trim(11002);
  ASSERT_FALSE(too_far);
  EXPECT_EQ(too_far.error().code, Errc::conflict);
  ASSERT_TRUE(this->log().trim(11001));
  EXPECT_EQ(this->log().first(), 11001U);
  EXPECT_EQ(this->all(11001).size(), 1000U);
  const Status gone = this->log().read(11000, [](const Record&) { return true; });
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, Errc::not_found);
  EXPECT_EQ(this->append(12001).outcome, Outcome::stored);
}

TYPED_TEST(LogContract, PayloadsLiveAsLongAsASnapshotOrARecordUsesThem) {
  ASSERT_EQ(this->append({{record(1)}, {payload("in use"), payload("ended"), payload("again")}}).outcome,
            Outcome::stored);
  this->fill(2, 10);
  ASSERT_TRUE(this->log().write_snapshot(5, "a", {sha256("in use")}));
  ASSERT_EQ(this->append({{record(11)}, {payload("again")}}).outcome, Outcome::stored);
  ASSERT_TRUE(this->log().write_snapshot(11, "b", {sha256("in use")}));
  ASSERT_TRUE(this->log().trim(6));
  EXPECT_TRUE(this->log().payload(sha256("in use")));
  EXPECT_TRUE(this->log().payload(sha256("again")));
  EXPECT_FALSE(this->log().payload(sha256("ended")));
  EXPECT_FALSE(this->log().write_snapshot(12, "c", {sha256("ended")}));
}

TYPED_TEST(LogContract, WhatSomebodyElseSawMustBePartOfTheLog) {
  this->fill(1, 5);
  const Hash third = this->all(4).front().previous;
  EXPECT_TRUE(this->log().check_seen(3, third));
  EXPECT_TRUE(this->log().check_seen(5, this->log().head().hash));
  const Status ahead = this->log().check_seen(6, third);
  ASSERT_FALSE(ahead);
  EXPECT_NE(ahead.error().message.find("ends at position 5"), std::string::npos) << ahead.error().message;
  EXPECT_FALSE(this->log().check_seen(4, third));
}

}  // namespace
}  // namespace drover::store
