// status.conditions of a pod, in the order in which a node agent writes them.
#pragma once

#include <string>
#include <string_view>

#include "domain/cluster.h"
#include "kube/json/value.h"
#include "kube/object/pod/status.h"

namespace drover::kube {

// Of a pod that waits for a node; none while nobody has looked for one.
[[nodiscard]] Array waiting_conditions(const PodView& view);
// Of one that has a node; `status` is null until the node has said something.
[[nodiscard]] Array placed_conditions(const Job& job, const PodStatus* status,
                                      std::string_view phase);

}  // namespace drover::kube
