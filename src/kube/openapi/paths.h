// The requests that a group takes, as OpenAPI paths. kubectl looks here whether a kind's PATCH has
// the query parameters dryRun and fieldValidation.
#pragma once

#include <string_view>

#include "kube/json/value.h"
#include "kube/openapi/dialect.h"

namespace drover::kube {

// The paths of one group's resources: "/api/v1/namespaces/{namespace}/pods" and so on.
[[nodiscard]] Object paths(Dialect dialect, std::string_view group, std::string_view version);

}  // namespace drover::kube
