#include <gtest/gtest.h>

#include "domain/condition.h"
#include "domain/features.h"

namespace drover {
namespace {

DeviceInfo a100() {
  DeviceInfo d{.uuid = "u", .model = "a100", .product = "NVIDIA A100-SXM4-80GB", .capability = 80};
  d.memory = mebibytes(81559);
  d.links = {1, 2};
  d.numa = 1;
  d.attributes = {{"ecc", "on"}, {"slots", "7"}};
  return d;
}

bool holds(std::string_view text, const DeviceInfo& device) {
  const auto condition = Condition::parse(text);
  EXPECT_TRUE(condition.has_value()) << text << (condition ? "" : ": " + condition.error().message);
  return condition && condition->holds(device);
}

TEST(Condition, ComparesWhatAGpuHas) {
  for (const char* yes :
       {"", "  ", "gpu_memory>=40GB", "gpu_memory>=80GB", "gpu_memory<80GiB", "compute_capability>=8.0",
        "gpu_memory>=40GB && compute_capability>=8.0", "gpu_memory>=40GB&compute_capability>=8", "model=A100",
        "model==\"a100\"", "model!=t4", "(model=t4|model=a100)&nvlink", "!(model=t4)", "numa=1", "numa>0", "ecc=on",
        "slots>6", "slots=7", "nvlink>=2", "!mig", "gpu_memory>40.5gb", "product='NVIDIA A100-SXM4-80GB'"}) {
    EXPECT_TRUE(holds(yes, a100())) << yes;
  }
  for (const char* no : {"gpu_memory>=80GiB", "compute_capability>8.0", "model=a10", "mig=1", "mig!=1", "ecc=off",
                         "model=t4 || gpu_memory<40GB", "!nvlink", "slots<7"}) {
    EXPECT_FALSE(holds(no, a100())) << no;
  }
}

TEST(Condition, ASixteenGbCardIsOne) {
  DeviceInfo t4{.model = "t4", .capability = 75};
  t4.memory = mebibytes(15360);
  EXPECT_TRUE(holds("gpu_memory>=16GB", t4));
  EXPECT_FALSE(holds("gpu_memory>=16GiB", t4));
}

TEST(Condition, AndBindsCloserThanOr) {
  EXPECT_TRUE(holds("model=a100 || model=t4 && numa=9", a100()));
  EXPECT_FALSE(holds("(model=a100 || model=t4) && numa=9", a100()));
}

TEST(Condition, ErrorsNameTheColumn) {
  const std::pair<const char*, const char*> cases[] = {
      {"gpu_memory>=40", "column 13: '40' needs a unit, e.g. 40GB or 40GiB"},
      {"gpu_memory>=", "column 13: a value is expected"},
      {"gpu_memory", "column 11: a comparison is expected after gpu_memory"},
      {"gpu_memory>=xGB", "column 13: 'xGB' is not an amount of memory"},
      {"model>a100", "column 7: 'a100' can only be compared by = and !="},
      {"compute_capability>=eight", "column 21: 'eight' is not a number"},
      {"model=a100 &&", "column 14: a GPU attribute is expected, e.g. gpu_memory"},
      {"(model=a100", "column 12: a ')' is missing"},
      {"model=a100)", "column 11: ')' is not expected here"},
      {"model='a100", "column 7: the quotation is not closed"},
      {"; rm -rf /", "column 1: a GPU attribute is expected, e.g. gpu_memory"},
      {"gpu_memory>=99999999999999TB", "column 13: '99999999999999TB' is not an amount of memory"}};
  for (const auto& [text, message] : cases) {
    const auto condition = Condition::parse(text);
    ASSERT_FALSE(condition.has_value()) << text;
    EXPECT_EQ(condition.error().message, message);
  }
  EXPECT_FALSE(Condition::parse(std::string(10'000, '(')).has_value());
  EXPECT_FALSE(Condition::parse(std::string(10'000, '!')).has_value());
}

TEST(Features, HoldForNodes) {
  const std::vector<std::string> node{"a100", "ib", "rack2"};
  const auto holds_for = [&](const char* text, std::size_t way = 0) {
    const auto features = Features::parse(text);
    EXPECT_TRUE(features.has_value()) << text;
    return features && features->holds(node, way);
  };
  for (const char* yes : {"", "ib", "a100&ib", "t4|a100", "t4&x|ib", "(t4|a100)&ib", "ib&(x|(y|rack2))"}) {
    EXPECT_TRUE(holds_for(yes)) << yes;
  }
  for (const char* no : {"t4", "a100&t4", "t4|x", "(t4|a100)&x"}) EXPECT_FALSE(holds_for(no)) << no;
  EXPECT_FALSE(holds_for("[rack1|rack2]&ib", 0));
  EXPECT_TRUE(holds_for("[rack1|rack2]&ib", 1));
  EXPECT_EQ(Features::parse("[a|b]&[c|d|e]")->ways(), 6U);
}

TEST(Features, ErrorsNameTheColumn) {
  const std::pair<const char*, const char*> cases[] = {
      {"a|", "column 3: a feature is expected"},
      {"a*4", "column 2: counts of nodes per feature (\"*N\") are not supported"},
      {"[a|b", "column 5: a ']' is missing"},
      {"a b", "column 2: ' ' is not expected here"},
      {"a)", "column 2: ')' is not expected here"}};
  for (const auto& [text, message] : cases) {
    const auto features = Features::parse(text);
    ASSERT_FALSE(features.has_value()) << text;
    EXPECT_EQ(features.error().message, message);
  }
  EXPECT_FALSE(Features::parse("[a|b|c|d|e|f|g]&[a|b|c|d|e|f|g]").has_value());
  EXPECT_FALSE(Features::parse(std::string(10'000, '(')).has_value());
}

}  // namespace
}  // namespace drover
