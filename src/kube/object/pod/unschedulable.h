// Why a pod waits, in one line: Kubernetes' phrases, which tools look for, with drover's numbers.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "domain/refusal.h"

namespace drover::kube {

// What so many nodes say to the pod; the amounts are of the node that comes nearest.
struct NodesRefusal {
  Refusal refusal;
  std::uint32_t nodes = 0;
};

// "0/4 nodes are available: 2 Insufficient nvidia.com/gpu (want 4, at most 2 free), 1 node(s) had
// untolerated taint {k: v}." Nodes that could take it and are kept for other work count as well.
[[nodiscard]] std::string unschedulable_message(std::uint32_t nodes,
                                                std::span<const NodesRefusal> refusals);

// One of them, without the count of nodes: "Insufficient cpu (want 4, at most 2 free)".
[[nodiscard]] std::string refusal_phrase(const Refusal& refusal);

}  // namespace drover::kube
