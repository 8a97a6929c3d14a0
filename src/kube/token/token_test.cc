#include "kube/token/token.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace drover::kube {
namespace {

// A hand whose signature is the bytes' length and last letters.
struct Hand {
  static std::string mark(std::string_view bytes) {
    return std::to_string(bytes.size()) + std::string(bytes.substr(bytes.size() - 8));
  }
  TokenKeys keys{.sign = [](std::string_view bytes) -> Result<std::string> { return mark(bytes); },
                 .is_ours = [](std::string_view bytes,
                               std::string_view signature) { return mark(bytes) == signature; }};
  const Instant now{seconds(1'796'000'000)};
  Claims claims{.space = "ann",
                .account = "robot",
                .account_uid = "u-1",
                .pod = "p",
                .pod_uid = "u-2",
                .audiences = {"a", "b"},
                .from = now,
                .until = now + seconds(600)};
};

TEST(Token, SaysWhatWasSignedWhileItIsGood) {
  const Hand hand;
  const std::string token = *make_token(hand.claims, "id", hand.keys);
  EXPECT_EQ(*read_token(token, hand.keys, hand.now), hand.claims);
  EXPECT_EQ(read_token(token, hand.keys, hand.now + seconds(600)).error().message,
            "the token has expired");
  EXPECT_EQ(read_token(token, hand.keys, hand.now - seconds(1)).error().message,
            "the token is not yet good");
  EXPECT_EQ(hand.claims.subject(), "system:serviceaccount:ann:robot");
}

TEST(Token, WhatSomebodyElseSignedOrChangedIsNone) {
  const Hand hand;
  const std::string token = *make_token(hand.claims, "id", hand.keys);
  const auto parts = split(token, '.');
  const std::string changed =
      std::string(parts[0]) + "." + std::string(parts[1]) + "AAAA." + std::string(parts[2]);
  const std::string unsigned_one =
      "eyJhbGciOiJub25lIn0." + std::string(parts[1]) + ".";  // {"alg":"none"}
  for (const std::string& bad :
       {std::string(), std::string("a.b.c"), token + "x", token.substr(1), changed, unsigned_one,
        token + "." + token, std::string(20'000, 'a')}) {
    const auto read = read_token(bad, hand.keys, hand.now);
    ASSERT_FALSE(read) << bad;
    EXPECT_EQ(read.error().message, "it is no token of this cluster");
  }
  EXPECT_FALSE(read_token(token, {}, hand.now));
}

}  // namespace
}  // namespace drover::kube
