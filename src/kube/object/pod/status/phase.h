// status.phase: how far a pod is, by the rules of Kubernetes' node agent.
#pragma once

#include <string_view>

#include "domain/job.h"
#include "domain/pod.h"

namespace drover::kube {

// "Pending", "Running", "Succeeded" or "Failed". `status` is what its node last said, null before
// that.
[[nodiscard]] std::string_view phase_of(const Job& job, const PodStatus* status,
                                        std::string_view restart_policy);

// status.reason of a job that came to an end without its containers' doing; "" for others.
[[nodiscard]] std::string_view end_reason(Cause cause);

}  // namespace drover::kube
