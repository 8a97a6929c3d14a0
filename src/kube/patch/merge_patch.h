// JSON merge patch (RFC 7386): objects merge member by member, null removes, all else replaces.
#pragma once

#include "base/result.h"
#include "kube/json/value.h"
#include "kube/patch/limits.h"

namespace drover::kube {

// `patch` must be an object. The result is no deeper and not much larger than both inputs.
[[nodiscard]] Result<Value> apply_merge_patch(Value document, const Value& patch);

}  // namespace drover::kube
