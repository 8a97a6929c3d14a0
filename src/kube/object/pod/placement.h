// Where a pod may run: its node selector, required node affinity, chosen node and tolerations as
// conditions of the domain.
#pragma once

#include <vector>

#include "domain/request.h"
#include "kube/json/value.h"

namespace drover::kube {

// The alternatives of which a node must meet one; empty: any node will do.
[[nodiscard]] std::vector<LabelTerms> label_terms_of(const Value& pod);

// With those that are implied: a pod that names its node isn't kept off it by NoSchedule.
[[nodiscard]] std::vector<Toleration> tolerations_of(const Value& pod);

}  // namespace drover::kube
