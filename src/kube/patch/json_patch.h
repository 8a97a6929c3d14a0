// JSON patch (RFC 6902) over JSON pointers (RFC 6901): add, remove, replace, move, copy, test.
#pragma once

#include "base/result.h"
#include "kube/json/value.h"
#include "kube/patch/limits.h"

namespace drover::kube {

// `document` with all operations of `patch` (an array) done in order, or the first error, which
// names the operation: "operation 2 (replace /spec/x): there is no member x".
[[nodiscard]] Result<Value> apply_json_patch(Value document, const Value& patch,
                                             const PatchLimits& limits = {});

}  // namespace drover::kube
