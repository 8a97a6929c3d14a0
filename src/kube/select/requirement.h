// One condition on labels: a key, an operator, values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kube/json/value.h"

namespace drover::kube {

struct Requirement {
  enum class Op : std::uint8_t { in, not_in, exists, absent, greater, less };
  std::string key;
  Op op = Op::in;
  std::vector<std::string> values;  // sorted, each once; one whole number for greater and less

  // Whether labels with `value` at the key (nothing: without the key) satisfy it. A missing key
  // satisfies not_in.
  [[nodiscard]] bool holds(std::optional<std::string_view> value) const;
  // "app in (a,b)", "!gone"; with one value "app=a", "app!=a".
  [[nodiscard]] std::string text() const;
  friend bool operator==(const Requirement&, const Requirement&) = default;
};

// Sorts the values and checks key, number of values and their form, in the API server's words:
// `values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty`.
[[nodiscard]] Result<Requirement> checked(Requirement requirement);

// Which operators the object {key, operator, values} may have: a LabelSelector's, or those and
// Gt and Lt in node affinity.
enum class Expressions : std::uint8_t { labels, nodes };
[[nodiscard]] Result<Requirement> requirement_from(const Value& expression, Expressions allowed);

}  // namespace drover::kube
