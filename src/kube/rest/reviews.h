// Questions of a caller about himself: who he is, and what he may do (kubectl auth whoami, can-i); and whose a token
// is.
#pragma once

#include "kube/rest/ask.h"
#include "kube/rest/failure.h"

namespace drover::kube {

[[nodiscard]] Outcome<Value> review(const Context& context, const Ask& ask);

}  // namespace drover::kube
