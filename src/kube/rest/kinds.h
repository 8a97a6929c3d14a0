// What is done with an object of a kind before it is kept: defaults, checks, checks of a change.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kube/object/problems.h"
#include "kube/rest/ask.h"

namespace drover::kube {

struct Judgement {
  Problems problems;
  std::vector<std::string> warnings;  // values of Warning headers
};

// A new object that is to be kept; fills in defaults.
[[nodiscard]] Judgement admit_new(const Context& context, const Ask& ask, Value& object);
// The same of one that replaces `was`.
[[nodiscard]] Judgement admit_change(const Ask& ask, const Value& was, Value& object);

}  // namespace drover::kube
