#include "wire/inbox.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace drover::wire {
namespace {

using std::chrono::milliseconds;

TEST(Inbox, RefusesWhenFullAndLeavesTheItemAlone) {
  Inbox<std::unique_ptr<int>> inbox(1);
  EXPECT_TRUE(inbox.push(std::make_unique<int>(1)));
  auto second = std::make_unique<int>(2);
  EXPECT_FALSE(inbox.push(std::move(second)));
  EXPECT_TRUE(second != nullptr);
  EXPECT_EQ(inbox.pop_all(milliseconds(0)).size(), 1U);
  EXPECT_TRUE(inbox.push(std::move(second)));
}

TEST(Inbox, GivesEverythingOfManyProducersOnceAndInOrder) {
  Inbox<std::pair<int, int>> inbox(100);
  std::vector<std::thread> producers;
  for (int p = 0; p < 4; ++p) {
    producers.emplace_back([&, p] {
      for (int i = 0; i < 5000;) {
        if (inbox.push({p, i})) ++i;
        else std::this_thread::yield();
      }
    });
  }
  std::vector<int> next(4, 0);
  for (int taken = 0; taken < 20000;) {
    for (const auto& [p, i] : inbox.pop_all(milliseconds(1000))) {
      ASSERT_EQ(i, next[static_cast<std::size_t>(p)]++);
      ++taken;
    }
  }
  for (auto& producer : producers) producer.join();
  EXPECT_EQ(inbox.size(), 0U);
}

TEST(Inbox, CloseEndsTheWaitAndKeepsWhatIsQueued) {
  Inbox<int> inbox(10);
  EXPECT_TRUE(inbox.push(1));
  std::thread closer([&] {
    std::this_thread::sleep_for(milliseconds(20));
    inbox.close();
  });
  EXPECT_EQ(inbox.pop_all(milliseconds(10'000)).size(), 1U);
  EXPECT_EQ(inbox.pop_all(milliseconds(10'000)).size(), 0U);
  closer.join();
  EXPECT_FALSE(inbox.push(2));
  EXPECT_TRUE(inbox.closed());
}

TEST(Inbox, CanBeWokenWithoutAnItem) {
  Inbox<int> inbox(10);
  inbox.wake();
  EXPECT_TRUE(inbox.pop_all(milliseconds(10'000)).empty());
}

}  // namespace
}  // namespace drover::wire
