// spec.taints: those that people put on a node, and those that say how it stands.
#pragma once

#include <vector>

#include "domain/node.h"
#include "kube/json/value.h"
#include "kube/object/problems.h"

namespace drover::kube {

[[nodiscard]] Array taints_of(const Node& node);

// The people's own, out of a spec that a client sent. Times are kept from the node where the taint
// is known.
[[nodiscard]] std::vector<Taint> marked_taints(const Node& node, const Value& object);

void check_taints(Problems& problems, const Value& object);

}  // namespace drover::kube
