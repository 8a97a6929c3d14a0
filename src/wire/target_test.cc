#include "wire/target.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace drover::wire {
namespace {

TEST(Target, IsTakenApartAndDecoded) {
  const Target target = parse_target("/v1/jobs/a%20b%2Fc/?user=ann+b&user=%41&flag&x=").value();
  EXPECT_EQ(target.path, (std::vector<std::string>{"v1", "jobs", "a b/c"}));
  const std::vector<std::pair<std::string, std::string>> query = {
      {"user", "ann b"}, {"user", "A"}, {"flag", ""}, {"x", ""}};
  EXPECT_EQ(target.query, query);
  EXPECT_TRUE(parse_target("/").value().path.empty());
}

TEST(Target, RefusesWhatHasNoClearMeaning) {
  for (const char* bad : {"", "v1", "http://x/", "/a//b", "/../x", "/a/./b", "/%2e%2e/x", "/%", "/%4", "/%zz", "/%00",
                          "/x?a=%", "/x?%00=1", "//"}) {
    EXPECT_FALSE(parse_target(bad).has_value()) << bad;
  }
}

TEST(Target, EncodingComesBackForAnyBytes) {
  Random random(1);
  for (int i = 0; i < 2000; ++i) {
    std::string text;
    for (auto n = 1 + random.below(20); n > 0; --n) text += static_cast<char>(random.between(1, 255));
    if (text == "." || text == "..") continue;
    const Target target = parse_target("/" + percent_encode(text) + "?" + percent_encode(text) + "=" +
                                       percent_encode(text)).value();
    ASSERT_EQ(target.path.at(0), text);
    ASSERT_EQ(target.query.at(0), std::make_pair(text, text));
  }
}

TEST(Target, SurvivesAnything) {
  Random random(2);
  constexpr std::string_view kLetters = "/?&=%+.a0%2F\0\x80";
  for (int i = 0; i < 20000; ++i) {
    std::string text = "/";
    for (auto n = random.below(12); n > 0; --n) text += kLetters[random.below(kLetters.size())];
    const auto target = parse_target(text);
    if (!target) continue;
    for (const auto& segment : target->path) ASSERT_NE(segment, "..");
  }
}

}  // namespace
}  // namespace drover::wire
