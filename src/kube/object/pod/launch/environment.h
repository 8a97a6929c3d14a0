// A container's variables, with those that come from config maps, secrets and the pod itself.
#pragma once

#include <string>

#include "kube/object/pod/launch.h"
#include "kube/object/pod/launch/expand.h"

namespace drover::kube {

// `error` says why the container can't be made yet; "" it can.
[[nodiscard]] Variables variables_of(const Value& pod, const Value& container,
                                     const LaunchLookups& lookups, std::string& error);

// Of a secret: decoded. Nothing when there is no such key (or it isn't base64).
[[nodiscard]] std::optional<std::string> config_map_value(const Value& map, std::string_view key);
[[nodiscard]] std::optional<std::string> secret_value(const Value& secret, std::string_view key);

}  // namespace drover::kube
