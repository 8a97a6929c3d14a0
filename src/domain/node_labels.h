// The labels of a node that work may select on: those that Kubernetes and its GPU feature discovery name,
// made from what the agent found, below what the agent was told and what people have written on the node.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "domain/node.h"
#include "domain/request.h"

namespace drover {

// The gpu labels speak of the least of the node's healthy GPUs, so that each of them meets what a label
// promises. `gpu-memory` is the class of the card in whole GB, as it is sold (16 for a T4, which has
// 15,360 MiB); `nvidia.com/gpu.memory` is MiB as the driver reports it.
[[nodiscard]] std::map<std::string, std::string> labels_of(const Node& node);

// Kubernetes' rules: `not_in` and `not_exists` hold for a node without the label; numbers must parse.
[[nodiscard]] bool holds(const LabelTerm& term, const std::map<std::string, std::string>& labels);
// One of the alternatives; none asked for: yes.
[[nodiscard]] bool labels_hold(const Request& request, const Node& node);

// The first condition that the node fails, of the first alternative; nullptr: none.
[[nodiscard]] const LabelTerm* label_against(const Request& request, const Node& node);
// "gpu-memory > 40", "zone in (a,b)", "!gone".
[[nodiscard]] std::string text_of(const LabelTerm& term);

// The first taint that keeps the request off the node; nullptr: none.
[[nodiscard]] const Taint* taint_against(const Request& request, const Node& node);
[[nodiscard]] bool tolerates(const Toleration& toleration, const Taint& taint);

}  // namespace drover
