// A condition on one label (Kubernetes' selector requirements; `key: value` is `in` with one
// value).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/describe.h"

namespace drover {

// greater and less compare whole numbers; an `in` without values holds for nothing.
enum class LabelOp : std::uint8_t { in, not_in, exists, not_exists, greater, less };
[[nodiscard]] constexpr std::string_view word(LabelOp op) {
  switch (op) {
    case LabelOp::in:
      return "in";
    case LabelOp::not_in:
      return "not_in";
    case LabelOp::exists:
      return "exists";
    case LabelOp::not_exists:
      return "not_exists";
    case LabelOp::greater:
      return "greater";
    case LabelOp::less:
      return "less";
  }
  return "";
}
struct LabelTerm {
  std::string key;
  LabelOp op = LabelOp::in;
  std::vector<std::string> values;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "key", self.key);
    visit(2, "op", self.op);
    visit(3, "values", self.values);
  }
  friend bool operator==(const LabelTerm&, const LabelTerm&) = default;
};
struct LabelTerms {  // all of them
  std::vector<LabelTerm> all;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "all", self.all);
  }
  friend bool operator==(const LabelTerms&, const LabelTerms&) = default;
};

}  // namespace drover
