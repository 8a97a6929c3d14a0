// Whom the terms about pods mean.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "domain/cluster.h"
#include "domain/pod_term.h"

namespace drover {

[[nodiscard]] bool selects(const Cluster& cluster, const PodSelector& selector,
                           const PodIdentity& pod);
// The numbers of the selectors that mean a job, rising: of all `apart` ones, and of its own terms.
// Jobs of one shape that have the same numbers are alike to every term that there is.
[[nodiscard]] std::vector<std::uint32_t> meant_by(const Cluster& cluster, const Job& job);
// "app=web,tier in (a,b)"; "any label" where there is no condition. Namespaces aren't named.
[[nodiscard]] std::string text_of(const PodSelector& selector);

// The value of one label of a node, as labels_of (domain/node_labels.h) has it; "" and a missing
// label differ.
[[nodiscard]] std::optional<std::string> label_of(const Node& node, const std::string& key);

}  // namespace drover
