// What the server serves, in the forms that clients ask for.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kube/json/value.h"
#include "kube/rest/accept.h"

namespace drover::kube {

[[nodiscard]] Value version_info();                                                                  // /version
[[nodiscard]] Value legacy_versions(std::string_view address);                                       // /api
[[nodiscard]] Value group_list();                                                                    // /apis
[[nodiscard]] std::optional<Value> group_of(std::string_view group);                                 // /apis/GROUP
[[nodiscard]] std::optional<Value> resource_list(std::string_view group, std::string_view version);  // /api/v1 ...
// All groups at once; `core`: those below /api, else those below /apis.
[[nodiscard]] Value aggregated(bool core, Discovery version);
[[nodiscard]] std::string discovery_type(Discovery version);  // the content type of that

inline constexpr std::string_view kServedVersion = "v1.33.0+drover";

}  // namespace drover::kube
