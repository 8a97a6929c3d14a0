// Sizes, generic resources, signals: one line per case.
#include <gtest/gtest.h>

#include "slurm/script/gres.h"
#include "slurm/script/memory.h"
#include "slurm/script/signal.h"

namespace drover::slurm {
namespace {

TEST(Memory, IsWhole1024BasedMegabytes) {  // C74
  const std::pair<const char*, std::int64_t> cases[] = {
      {"4096", 4096},  {"64G", 65536}, {"64g", 65536}, {"64GB", 65536}, {"64gb", 65536}, {"500K", 1},
      {"2T", 2097152}, {"0", 0},       {"0G", 0},      {"1025kb", 2},   {"7M", 7},       {"7mB", 7}};
  for (const auto& [text, mib] : cases) {
    const auto parsed = parse_memory_mib(text);
    ASSERT_TRUE(parsed) << text;
    EXPECT_EQ(*parsed, mib) << text;
  }
  for (const char* bad : {"2.5G", "32GiB", "-1", "", "G", " 4", "4 G", "+4", "4X", "99999999999999999999",
                          "9999999999T", "18446744073709551615K"}) {
    EXPECT_FALSE(parse_memory_mib(bad)) << bad;
  }
}

TEST(Memory, IsPrintedInTheLargestUnitThatLosesNothing) {
  const std::pair<std::int64_t, const char*> cases[] = {
      {65536, "64G"},      {1000, "1000M"}, {102400, "100G"}, {64000, "62.50G"}, {168936, "168936M"},
      {704000, "687.50G"}, {2097152, "2T"}, {0, "0"},         {512000, "500G"}};
  for (const auto& [mib, text] : cases) EXPECT_EQ(print_memory_mib(mib), text);
  EXPECT_EQ(print_memory_mib(65536, false), "65536M");
}

TEST(Gres, HasANameATypeAndACount) {
  const auto one = [](std::string_view text) {
    const auto list = parse_gres(text);
    return list && list.value().size() == 1 ? list.value().front() : Gres{};
  };
  EXPECT_EQ(one("gpu"), (Gres{"gpu", "", 1}));
  EXPECT_EQ(one("gpu:4"), (Gres{"gpu", "", 4}));
  EXPECT_EQ(one("gpu:a100"), (Gres{"gpu", "a100", 1}));
  EXPECT_EQ(one("gpu:A100:2"), (Gres{"gpu", "A100", 2}));
  EXPECT_EQ(one("gres/gpu:a100:2"), (Gres{"gpu", "a100", 2}));
  EXPECT_EQ(one("gres:gpu:2"), (Gres{"gpu", "", 2}));
  EXPECT_EQ(one("gpu:nvidia_a100-sxm4-80gb:1"), (Gres{"gpu", "nvidia_a100-sxm4-80gb", 1}));
  EXPECT_EQ(one("lustre:2k"), (Gres{"lustre", "", 2048}));
  EXPECT_EQ(one("lustre:2kib"), (Gres{"lustre", "", 2048}));
  EXPECT_EQ(one("lustre:2kb"), (Gres{"lustre", "", 2000}));
  EXPECT_EQ(one("lustre:3m"), (Gres{"lustre", "", 3 << 20}));
  EXPECT_EQ(one("lustre:3MB"), (Gres{"lustre", "", 3'000'000}));
  EXPECT_EQ(parse_gres("gpu:a100:2,nvme:1").value().size(), 2U);
  EXPECT_TRUE(parse_gres("none").value().empty());
  for (const char* bad : {"", ",", "gpu:", ":2", "gpu:a:b:c", "gpu:-1", "gpu:a100:x", "gpu:1.5", "gpu,,nvme",
                          "g pu:1", "gpu:99999999999999999999", "gpu:a100:2:"}) {
    EXPECT_FALSE(parse_gres(bad)) << bad;
  }
}

TEST(Gpus, AreACountOrATypeAndACount) {
  EXPECT_EQ(parse_gpus("4").value(), (std::vector<Gres>{{"gpu", "", 4}}));
  EXPECT_EQ(parse_gpus("a100:2,t4:1").value(), (std::vector<Gres>{{"gpu", "a100", 2}, {"gpu", "t4", 1}}));
  EXPECT_EQ(parse_gpus("a100").value(), (std::vector<Gres>{{"gpu", "a100", 1}}));
  for (const char* bad : {"", "-1", "a:b:1", ":", "1.5"}) EXPECT_FALSE(parse_gpus(bad)) << bad;
}

TEST(Signal, NamesATargetASignalAndATime) {
  const std::pair<const char*, SignalSpec> cases[] = {
      {"USR1", {10, 60, false, false}},     {"SIGUSR1@90", {10, 90, false, false}},
      {"B:TERM@30", {15, 30, true, false}}, {"R:10@5", {10, 5, false, true}},
      {"RB:INT", {2, 60, true, true}},      {"b:usr2@0", {12, 0, true, false}},
      {"9@65535", {9, 65535, false, false}}};
  for (const auto& [text, spec] : cases) {
    const auto parsed = parse_signal(text);
    ASSERT_TRUE(parsed) << text;
    EXPECT_EQ(parsed.value(), spec) << text;
  }
  for (const char* bad : {"", "NOSUCH", "USR1@", "USR1@65536", "USR1@-1", "X:USR1", "B:", "0", "65", "B:B:USR1"}) {
    EXPECT_FALSE(parse_signal(bad)) << bad;
  }
}

}  // namespace
}  // namespace drover::slurm
