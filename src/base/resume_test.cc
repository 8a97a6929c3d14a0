#include "base/resume.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace drover {
namespace {

// Moves at most `most` bytes of what one side has to write into the other.
std::size_t move_some(ResumableStream& from, ResumableStream& to, std::size_t most, std::vector<std::string>& got) {
  const std::string_view pending = from.pending();
  const std::string bytes(pending.substr(0, most));
  from.wrote(bytes.size());
  EXPECT_TRUE(to.feed(bytes, [&](std::string_view message) { got.emplace_back(message); }));
  return bytes.size();
}

TEST(Resume, MessagesArriveWholeAndAreConfirmed) {
  ResumableStream a;
  ResumableStream b;
  ASSERT_TRUE(a.connected(0));
  ASSERT_TRUE(b.connected(0));
  a.send("one");
  a.send("");
  std::vector<std::string> got;
  std::vector<std::string> back;
  while (move_some(a, b, 3, got) > 0) {}
  EXPECT_EQ(got, (std::vector<std::string>{"one", ""}));
  EXPECT_FALSE(a.all_confirmed());
  while (move_some(b, a, 3, back) > 0) {}
  EXPECT_TRUE(a.all_confirmed());
  EXPECT_TRUE(back.empty());
}

TEST(Resume, FullTellsTheOwnerToHoldBack) {
  ResumableStream a(10);
  a.send("12345");
  EXPECT_FALSE(a.full());
  a.send("12345");
  EXPECT_TRUE(a.full());
}

TEST(Resume, AHeldConfirmationGoesOutWhenItIsReleased) {
  ResumableStream a;
  ResumableStream b;
  ASSERT_TRUE(a.connected(0));
  ASSERT_TRUE(b.connected(0));
  std::string framed = "....one";
  begin_frame(framed);
  a.send_framed(framed);
  b.hold_confirmations(true);
  std::vector<std::string> got;
  while (move_some(a, b, 100, got) > 0) {}
  EXPECT_EQ(got, (std::vector<std::string>{"one"}));
  EXPECT_TRUE(b.pending().empty());
  b.hold_confirmations(false);
  while (move_some(b, a, 100, got) > 0) {}
  EXPECT_TRUE(a.all_confirmed());
}

TEST(Resume, APeerThatIsAheadOrBehindWhatIsKeptIsRefused) {
  ResumableStream a;
  ASSERT_TRUE(a.connected(0));
  a.send("one");
  EXPECT_FALSE(a.connected(2));
  ASSERT_TRUE(a.connected(1));  // it has the one: thrown away
  EXPECT_FALSE(a.connected(0));
}

TEST(Resume, RubbishIsRefused) {
  ResumableStream a;
  ASSERT_TRUE(a.connected(0));
  const auto nothing = [](std::string_view) {};
  EXPECT_FALSE(a.feed(std::string("\0\0\0\7", 4), nothing));
  ResumableStream b;
  EXPECT_FALSE(b.feed(std::string("\1\0\x40\0", 4), nothing));  // larger than a message may be
  ResumableStream c;
  std::string confirms("\10\0\0\1\1\0\0\0\0\0\0\0", 12);
  EXPECT_FALSE(c.feed(confirms, nothing));  // nothing was sent
}

// Whatever breaks when, every message arrives once and in order, both ways.
TEST(Resume, RandomBreaksLoseAndDoubleNothing) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    ResumableStream a;
    ResumableStream b;
    std::vector<std::string> sent_a;
    std::vector<std::string> sent_b;
    std::vector<std::string> at_a;
    std::vector<std::string> at_b;
    ASSERT_TRUE(a.connected(0));
    ASSERT_TRUE(b.connected(0));
    for (int step = 0; step < 400; ++step) {
      switch (random() % 8) {
        case 0: sent_a.push_back(std::string(random() % 300, 'a') + std::to_string(step)), a.send(sent_a.back()); break;
        case 1: sent_b.push_back(std::string(random() % 300, 'b') + std::to_string(step)), b.send(sent_b.back()); break;
        case 2: case 3: case 4: move_some(a, b, random() % 200, at_b); break;
        case 5: case 6: move_some(b, a, random() % 200, at_a); break;
        default:
          if (random() % 5 != 0) break;
          a.lost();
          b.lost();
          ASSERT_TRUE(a.connected(b.received()));
          ASSERT_TRUE(b.connected(a.received()));
      }
    }
    while (move_some(a, b, 1000, at_b) + move_some(b, a, 1000, at_a) > 0) {}
    EXPECT_EQ(at_b, sent_a) << seed;
    EXPECT_EQ(at_a, sent_b) << seed;
    EXPECT_TRUE(a.all_confirmed() && b.all_confirmed()) << seed;
  }
}

}  // namespace
}  // namespace drover
