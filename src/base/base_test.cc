#include <gtest/gtest.h>

#include "base/id_table.h"
#include "base/proto.h"
#include "base/rare.h"
#include "base/text.h"

namespace drover {
namespace {

using ThingId = Id<struct ThingKind>;

struct Inner {
  std::int64_t number = -7;
  std::string text;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "number", self.number);
    visit(2, "text", self.text);
  }
  friend bool operator==(const Inner&, const Inner&) = default;
};

struct Outer {
  ThingId id;
  Bytes bytes;
  Instant at;
  std::optional<std::int32_t> maybe;
  std::vector<std::string> words;
  std::vector<Inner> inners;
  std::map<std::string, Milli> shares;
  std::variant<Inner, std::string> either;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "id", self.id);
    visit(2, "bytes", self.bytes);
    visit(3, "at", self.at);
    visit(4, "maybe", self.maybe);
    visit(5, "words", self.words);
    visit(6, "inners", self.inners);
    visit(7, "shares", self.shares);
    visit(8, "either", self.either);
  }
  friend bool operator==(const Outer&, const Outer&) = default;
};

TEST(Proto, WhatWasEncodedIsDecoded) {
  const Outer outer{.id = ThingId(7), .bytes = Bytes::of(-3), .at = Instant(seconds(9)), .maybe = 0,
                    .words = {"a", "", "c"}, .inners = {{.number = 0, .text = "x"}, {}},
                    .shares = {{"m", Milli::of(500)}}, .either = std::string("s")};
  const auto back = decode<Outer>(encode(outer));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(*back, outer);
}

TEST(Proto, UnknownFieldsAreSkippedAndMissingOnesKeepTheirDefault) {
  const auto inner = decode<Inner>(encode(Outer{.id = ThingId(1), .words = {"w"}}));
  EXPECT_FALSE(inner.has_value());  // field 2 has another wire type: an error, not a guess
  const auto empty = decode<Inner>("");
  ASSERT_TRUE(empty.has_value());
  EXPECT_EQ(empty->number, -7);
}

TEST(Proto, EveryTruncationIsAnErrorOrAValueButNeverACrash) {
  const std::string bytes = encode(Outer{.id = ThingId(300), .words = {"abc", "def"}, .inners = {{}, {}}});
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    [[maybe_unused]] const auto result = decode<Outer>(std::string_view(bytes).substr(0, n));
  }
}

TEST(IdTable, KeepsOrderAndForgetsPages) {
  IdTable<ThingId, int> table;
  for (std::uint64_t i = 1; i <= 1000; ++i) table.insert(ThingId(i), static_cast<int>(i));
  for (std::uint64_t i = 1; i <= 999; ++i) table.erase(ThingId(i));
  EXPECT_EQ(table.size(), 1U);
  EXPECT_EQ(*table.first_from(ThingId(3)), 1000);
  EXPECT_EQ(table.find(ThingId(5)), nullptr);
  EXPECT_EQ(table.first_from(ThingId(1001)), nullptr);
}

TEST(IdTable, ACopyKeepsWhatTheOriginalChanges) {
  IdTable<ThingId, std::string> table;
  for (std::uint64_t i = 1; i <= 200; ++i) table.insert(ThingId(i), "as it was");
  const IdTable<ThingId, std::string> copy = table;
  EXPECT_EQ(table, copy);
  table.at(ThingId(3)) = "changed";
  table.erase(ThingId(100));
  for (std::uint64_t i = 130; i <= 200; ++i) table.erase(ThingId(i));
  EXPECT_FALSE(table == copy);
  EXPECT_EQ(copy.at(ThingId(3)), "as it was");
  std::size_t held = 0;
  copy.each([&](const std::string& text) { held += text == "as it was" ? 1U : 0U; });
  EXPECT_EQ(held, 200U);
}

TEST(Rare, IsNothingUntilItIsSetAndNobodyElsesOnceItIsChanged) {
  Rare<std::string> a;
  EXPECT_TRUE(a->empty());
  EXPECT_TRUE(a.missing());
  a.edit() = "one";
  const Rare<std::string> b = a;
  a.edit() += " more";
  EXPECT_EQ(*a, "one more");
  EXPECT_EQ(*b, "one");
  a.edit().clear();
  EXPECT_EQ(a, Rare<std::string>{});  // by value
  EXPECT_FALSE(a.missing());
  a.trim();
  EXPECT_TRUE(a.missing());
}

TEST(Text, NumbersAreWholeOrNothing) {
  EXPECT_EQ(parse_int("-12"), -12);
  EXPECT_FALSE(parse_int("12x"));
  EXPECT_FALSE(parse_int(""));
  EXPECT_FALSE(parse_uint("-1"));
  EXPECT_FALSE(parse_uint("99999999999999999999"));
}

TEST(Text, StrangersCannotPaintTheTerminal) { EXPECT_EQ(printable("a\x1b[2Jb"), "a\\x1b[2Jb"); }

TEST(Text, DidYouMean) {
  constexpr std::string_view kWords[] = {"partition", "priority"};
  EXPECT_EQ(nearest_word("partiton", kWords), "partition");
  EXPECT_EQ(nearest_word("zebra", kWords), "");
}

}  // namespace
}  // namespace drover
