#include "base/name_order.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace drover {
namespace {

TEST(NameOrder, CountsAsPeopleDo) {
  const std::vector<std::string> ordered{"", "a", "a1", "a01", "a2", "a9", "a10", "a10b2", "a10b11",
                                         "a99999999999999999999", "a100000000000000000000", "ab", "b1"};
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    for (std::size_t j = 0; j < ordered.size(); ++j) {
      EXPECT_EQ(name_less(ordered[i], ordered[j]), i < j) << ordered[i] << " " << ordered[j];
    }
  }
}

}  // namespace
}  // namespace drover
