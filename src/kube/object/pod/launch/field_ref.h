// The downward API: a pod's own fields and amounts as texts.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kube/json/value.h"
#include "kube/object/pod/launch.h"

namespace drover::kube {

// Whether variables (or files of volumes, which also take all labels and annotations) may name it.
[[nodiscard]] bool is_field(std::string_view path, bool of_volume);

// metadata.name, metadata.labels['k'], spec.nodeName, status.podIP ...; nothing for others.
[[nodiscard]] std::optional<std::string> field_text(const Value& pod, std::string_view path,
                                                    const LaunchLookups& lookups);

[[nodiscard]] bool is_resource_field(std::string_view resource);
// limits.cpu and its like of a container, divided and rounded up; what has no limit has the node's.
[[nodiscard]] std::string resource_text(const Value& container, const Value& ref,
                                        const LaunchLookups& lookups);

}  // namespace drover::kube
