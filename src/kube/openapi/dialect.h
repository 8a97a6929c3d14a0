// The two versions of OpenAPI that clients read: 2.0 by kubectl before 1.27, 3.0 since.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kube/json/value.h"

namespace drover::kube {

enum class Dialect : std::uint8_t { v2, v3 };

// {"$ref": "#/definitions/NAME"} or {"$ref": "#/components/schemas/NAME"}.
[[nodiscard]] inline Object reference_to(Dialect dialect, std::string_view full_name) {
  const std::string_view place =
      dialect == Dialect::v2 ? "#/definitions/" : "#/components/schemas/";
  Object reference;
  reference.emplace("$ref", std::string(place) + std::string(full_name));
  return reference;
}

// How a kind is named in extensions: {"group": "", "kind": "Pod", "version": "v1"}.
[[nodiscard]] inline Object group_version_kind(std::string_view group, std::string_view version,
                                               std::string_view kind) {
  return {{"group", group}, {"kind", kind}, {"version", version}};
}

inline constexpr std::string_view kKindExtension = "x-kubernetes-group-version-kind";

}  // namespace drover::kube
