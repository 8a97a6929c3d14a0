// Strategic merge patch: a merge patch that knows from the schema which lists merge, by which key.
// Directives: $patch (replace, delete, merge), $retainKeys, $deleteFromPrimitiveList/LIST and
// $setElementOrder/LIST, with the meaning that kubectl gives them.
#pragma once

#include "base/result.h"
#include "kube/json/value.h"
#include "kube/patch/limits.h"
#include "kube/schema/schema.h"

namespace drover::kube {

// `patch` must be an object. Merged lists have the patch's items in the patch's order, and the
// others where they stood between them.
[[nodiscard]] Result<Value> apply_strategic_patch(Value document, const Value& patch,
                                                  const Message& kind);

}  // namespace drover::kube
