// status of a node: amounts, conditions, addresses, what its machine is.
#pragma once

#include "kube/object/node/node_object.h"

namespace drover::kube {

[[nodiscard]] Object node_status(const Node& node, const NodeView& view);

}  // namespace drover::kube
