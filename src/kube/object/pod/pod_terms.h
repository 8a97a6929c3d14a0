// What a pod says of other pods: required affinity and anti-affinity, and topology spread
// constraints that must hold, as terms of its request.
#pragma once

#include "domain/request.h"
#include "kube/json/value.h"

namespace drover::kube {

// `pod` has passed validate_pod. matchLabelKeys and mismatchLabelKeys become conditions on the
// values that the pod has now; preferences are left out.
void add_pod_terms(Request& request, const Value& pod);

}  // namespace drover::kube
