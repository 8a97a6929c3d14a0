// status.containerStatuses and status.initContainerStatuses from what a node reported.
#pragma once

#include <vector>

#include "domain/pod.h"
#include "kube/json/value.h"

namespace drover::kube {

// Those of init containers, or the others. What still ran when a job had `ended` is lost from
// sight: terminated, ContainerStatusUnknown, 137.
[[nodiscard]] Array container_statuses(const PodStatus& status, bool init, bool ended, Instant at);

// {"running": {"startedAt": ...}} and its like; {} for nothing.
[[nodiscard]] Object container_state(const ContainerState& state, const std::string& container_id);

}  // namespace drover::kube
