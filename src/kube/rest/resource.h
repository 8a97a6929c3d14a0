// The resources that are served (kube/schema/resources.h).
#pragma once

#include <string>

#include "kube/schema/resources.h"

namespace drover::kube {

// Where its objects are kept: "pods", "leases.coordination.k8s.io". Both groups of events share one.
[[nodiscard]] std::string store_table(const Resource& resource);

}  // namespace drover::kube
