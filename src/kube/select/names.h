// Names of objects, labels and annotations. Each check gives the API server's complaints, none for
// a good name: the caller puts them behind `metadata.name: Invalid value: "x": `.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace drover::kube {

using Complaints = std::vector<std::string>;

[[nodiscard]] Complaints dns1123_label(
    std::string_view name);  // at most 63: namespaces, containers
[[nodiscard]] Complaints dns1123_subdomain(
    std::string_view name);  // at most 253: pods, config maps ...
[[nodiscard]] Complaints dns1035_label(std::string_view name);  // starts with a letter: services
[[nodiscard]] Complaints qualified_name(std::string_view key);  // keys of labels and annotations
[[nodiscard]] Complaints label_value(std::string_view value);
[[nodiscard]] Complaints env_var_name(std::string_view name);
[[nodiscard]] Complaints config_key(std::string_view key);  // of a config map or secret

// Whether the name may be one part of a path: not "." or "..", no slash, no percent sign.
[[nodiscard]] Complaints path_segment(std::string_view name);

inline constexpr std::size_t kMaxAnnotations = 256U
                                               << 10U;  // bytes of all keys and values together

}  // namespace drover::kube
