#include "control/past.h"

#include <gtest/gtest.h>

#include "base/proto.h"
#include "store/memory/memory_log.h"

namespace drover::control {
namespace {

// A log in which record n stores version n of one document, and the state that it folds to.
struct Tale {
  void tell(std::uint64_t until) {
    while (log.head().position < until) {
      const Event fact = DocumentStored{.key = key, .at = Instant(seconds(1))};
      cluster.apply(fact);
      const std::uint64_t position = log.head().position + 1;
      log.append(
          {{{.position = position, .epoch = 1, .at = Instant(seconds(1)), .facts = {encode(fact)}}},
           {}},
          [](const store::Appended& done) {
            ASSERT_EQ(done.outcome, store::Outcome::stored) << done.error;
          });
    }
  }
  void snapshot() {
    ASSERT_TRUE(log.write_snapshot(log.head().position, cluster.to_snapshot(), {}));
  }
  // The versions of the document before the first group and after each.
  static std::vector<std::uint64_t> versions(Past past) {
    const auto version = [&] {
      return past.cluster.document(key) == nullptr ? 0 : past.cluster.document(key)->version;
    };
    std::vector<std::uint64_t> all{version()};
    for (const Past::Group& group : past.groups) {
      for (const Event& fact : group.facts) past.cluster.apply(fact);
      all.push_back(version());
    }
    return all;
  }

  static inline const DocumentKey key{.kind = "configmaps", .space = "default", .name = "c"};
  store::MemoryLog log;
  Cluster cluster;
};

TEST(Past, AWholeLogIsToldFromItsBeginning) {
  Tale tale;
  tale.tell(4);
  EXPECT_EQ(Tale::versions(*past_of(tale.log, 4, 100)),
            (std::vector<std::uint64_t>{0, 1, 2, 3, 4}));
  // What isn't the reader's yet is left to him.
  EXPECT_EQ(Tale::versions(*past_of(tale.log, 2, 100)), (std::vector<std::uint64_t>{0, 1, 2}));
}

TEST(Past, OnlySoManyFactsAreToldAndTheOthersAreThere) {
  Tale tale;
  tale.tell(9);
  EXPECT_EQ(Tale::versions(*past_of(tale.log, 9, 3)), (std::vector<std::uint64_t>{6, 7, 8, 9}));
  EXPECT_EQ(Tale::versions(*past_of(tale.log, 9, 0)), (std::vector<std::uint64_t>{9}));
}

TEST(Past, ACutLogIsToldFromTheOlderSnapshot) {
  Tale tale;
  tale.tell(3);
  tale.snapshot();
  tale.tell(6);
  tale.snapshot();
  tale.tell(8);
  ASSERT_TRUE(tale.log.trim(3));
  EXPECT_EQ(Tale::versions(*past_of(tale.log, 8, 100)),
            (std::vector<std::uint64_t>{3, 4, 5, 6, 7, 8}));
}

TEST(Past, AFactOfAnotherLanguageIsAnError) {
  Tale tale;
  tale.tell(1);
  tale.log.append({{{.position = 2, .epoch = 1, .facts = {"rubbish"}}}, {}},
                  [](const store::Appended&) {});
  EXPECT_FALSE(past_of(tale.log, 2, 100));
}

}  // namespace
}  // namespace drover::control
