// The GPU condition of a request: "gpu_memory>=40GB && compute_capability>=8.0". It is asked of each
// device by itself. `&` is `&&`, `|` is `||`. GB is 10^9 bytes, GiB is 2^30; memory is what the
// driver reports, so an "80 GB" card (81,559 MiB) satisfies gpu_memory>=80GB.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "domain/node.h"

namespace drover {

class Condition {
 public:
  // "" holds for every device. Errors name the column, counted from 1.
  [[nodiscard]] static Result<Condition> parse(std::string_view text);
  [[nodiscard]] bool holds(const DeviceInfo& device) const;

 private:
  friend class ConditionParser;
  enum class Kind : std::uint8_t { both, either, negation, compare, present };
  enum class Compare : std::uint8_t { equal, not_equal, less, at_most, more, at_least };
  struct Term {
    Kind kind = Kind::present;
    Compare compare = Compare::equal;
    std::size_t left = 0;  // places in terms_
    std::size_t right = 0;
    std::string attribute;
    std::string word;          // the value as text
    bool number = false;       // it is one, in `value`
    std::int64_t value = 0;    // bytes for memory, thousandths for all else
  };
  [[nodiscard]] bool holds(std::size_t place, const DeviceInfo& device) const;
  [[nodiscard]] static bool compares(const Term& term, const DeviceInfo& device);

  std::vector<Term> terms_;  // the last one is the root
};

}  // namespace drover
