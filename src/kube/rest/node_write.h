// Changes of a node object: labels, annotations and taints are marks on the node, cordon is drover's drain.
#pragma once

#include <vector>

#include "kube/rest/ask.h"

namespace drover::kube {

[[nodiscard]] std::vector<api::Execute> wishes_for_node(const Context& context, const Entry& current,
                                                        const Value& changed, const Caller& caller);

}  // namespace drover::kube
