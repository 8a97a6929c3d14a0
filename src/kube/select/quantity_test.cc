#include "kube/select/quantity.h"

#include <gtest/gtest.h>

#include <limits>

namespace drover::kube {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

TEST(Quantity, ReadsAndPrintsAsKubernetes) {
  struct Case {
    const char* text;
    std::int64_t units;
    std::int64_t milli;
    const char* canonical;
  };
  for (const Case& c : {
           Case{"0", 0, 0, "0"},
           Case{"1", 1, 1000, "1"},
           Case{"1000m", 1, 1000, "1"},
           Case{"100m", 1, 100, "100m"},
           Case{"0.5", 1, 500, "500m"},
           Case{"1.5", 2, 1500, "1500m"},
           Case{"2k", 2000, 2'000'000, "2k"},
           Case{"1000", 1000, 1'000'000, "1k"},
           Case{"100", 100, 100'000, "100"},
           Case{"1500M", 1'500'000'000, 1'500'000'000'000, "1500M"},
           Case{"1Gi", 1 << 30, 1'073'741'824'000, "1Gi"},
           Case{"1024Mi", 1 << 30, 1'073'741'824'000, "1Gi"},
           Case{"1.5Gi", 1'610'612'736, 1'610'612'736'000, "1536Mi"},
           Case{"512Ki", 524'288, 524'288'000, "512Ki"},
           Case{"0.5Ki", 512, 512'000, "512"},
           Case{"1Ki", 1024, 1'024'000, "1Ki"},
           Case{"0.1Ki", 103, 102'400, "102400m"},
           Case{"1e3", 1000, 1'000'000, "1e3"},
           Case{"12E2", 1200, 1'200'000, "1200"},
           Case{"2e-3", 1, 2, "2e-3"},
           Case{"1E", 1'000'000'000'000'000'000, kMax, "1E"},
           Case{"100n", 1, 1, "100n"},
           Case{"0.1n", 1, 1, "1n"},
           Case{"1u", 1, 1, "1u"},
           Case{"-1.5", -2, -1500, "-1500m"},
           Case{"+3", 3, 3000, "3"},
           Case{".5", 1, 500, "500m"},
           Case{"5.", 5, 5000, "5"},
           Case{"9223372036854775807", kMax, kMax, "9223372036854775807"},
           Case{"9223372036854775808", kMax, kMax, "9223372036854775807"},
           Case{"100Ei", kMax, kMax, "9223372036854775807"},
           Case{"8000000000.000000001", 8'000'000'001, 8'000'000'000'001, "8000000000000000001n"},
       }) {
    const auto quantity = Quantity::parse(c.text);
    ASSERT_TRUE(quantity) << c.text;
    EXPECT_EQ(quantity->units(), c.units) << c.text;
    EXPECT_EQ(quantity->milli(), c.milli) << c.text;
    EXPECT_EQ(quantity->text(), c.canonical) << c.text;
  }
}

TEST(Quantity, SeesCanonicalTextsQuickly) {
  for (const char* text : {"1", "999", "500m", "64Gi", "1Ki", "2P", "7n"}) {
    EXPECT_TRUE(is_canonical(text)) << text;
    EXPECT_EQ(Quantity::parse(text)->text(), text);
  }
  for (const char* text : {"", "0", "01", "1000", "1.5", "1e3", "-1", "x", "1Kk", "m", "10E"}) {
    EXPECT_FALSE(is_canonical(text)) << text;
  }
}

TEST(Quantity, RefusesInTheServersWords) {
  constexpr const char* kShape =
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
  for (const char* bad : {"", "x", "-", ".", "Mi", "1.2.3", "1 Gi", "$GPU", "--1", "1GiB"}) {
    const auto quantity = Quantity::parse(bad);
    ASSERT_FALSE(quantity) << bad;
    EXPECT_EQ(quantity.error().message, kShape) << bad;
  }
  for (const char* bad : {"1Kk", "1mm", "1e", "1i"}) {
    ASSERT_FALSE(Quantity::parse(bad)) << bad;
    EXPECT_EQ(Quantity::parse(bad).error().message, "unable to parse quantity's suffix") << bad;
  }
  EXPECT_FALSE(Quantity::parse("1e99999"));
}

TEST(Quantity, ComesFromNumbersToo) {
  EXPECT_EQ(Quantity::from(Value(2))->text(), "2");
  EXPECT_EQ(Quantity::from(Value(0.5))->text(), "500m");
  EXPECT_EQ(Quantity::from(Value(" 1Gi "))->text(), "1Gi");
  EXPECT_FALSE(Quantity::from(Value(nullptr)));
  EXPECT_FALSE(Quantity::from(Value(true)));
}

TEST(Quantity, AddsAndCompares) {
  Quantity sum;
  sum += *Quantity::parse("512Mi");
  sum += *Quantity::parse("1Gi");
  EXPECT_EQ(sum.text(), "1536Mi");
  sum -= *Quantity::parse("1536Mi");
  EXPECT_EQ(sum, Quantity{});
  EXPECT_LT(*Quantity::parse("999m"), *Quantity::parse("1"));
  EXPECT_EQ(*Quantity::parse("1Ki"), *Quantity::parse("1024"));
  EXPECT_EQ(Quantity::of(4, Quantity::Format::binary).text(), "4");
  EXPECT_EQ(Quantity::of_milli(250).text(), "250m");
  Quantity most = Quantity::of(kMax);
  most += most;
  EXPECT_EQ(most.units(), kMax);
}

}  // namespace
}  // namespace drover::kube
