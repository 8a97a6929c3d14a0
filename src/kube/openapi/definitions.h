// The kinds as OpenAPI schemas.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "kube/json/value.h"
#include "kube/openapi/dialect.h"
#include "kube/schema/schema.h"

namespace drover::kube {

inline constexpr std::string_view kPatchName = "io.k8s.apimachinery.pkg.apis.meta.v1.Patch";
inline constexpr std::string_view kDeleteOptionsName =
    "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions";
inline constexpr std::string_view kStatusName = "io.k8s.apimachinery.pkg.apis.meta.v1.Status";

// By full name, in its order: `kinds`, their lists, all that they refer to, and what every group
// has (Status, DeleteOptions, Patch).
[[nodiscard]] Object definitions(Dialect dialect, std::span<const Message* const> kinds);

}  // namespace drover::kube
