// The resources that the Kubernetes door serves: discovery, paths, OpenAPI and tables read it from here.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace drover::kube {

struct Subresource {
  std::string_view name;     // "log"
  std::string_view kind;     // of what is sent and answered: "Eviction"
  std::string_view group;    // of that kind, where it isn't the resource's own
  std::string_view version;  // "" where it is the resource's own
  std::vector<std::string_view> verbs;
};

struct Resource {
  std::string_view group;  // "" core
  std::string_view version;
  std::string_view name;      // "pods"
  std::string_view singular;  // "pod"
  std::string_view kind;      // "Pod"
  bool namespaced = true;
  std::vector<std::string_view> short_names;
  std::vector<std::string_view> categories;
  std::vector<std::string_view> verbs;  // in alphabetical order
  std::vector<Subresource> subresources;

  [[nodiscard]] bool allows(std::string_view verb) const;
  [[nodiscard]] const Subresource* subresource(std::string_view name) const;
};

// By group (core first), then by name.
[[nodiscard]] std::span<const Resource> resources();
// Null for what isn't served. `name` is the plural.
[[nodiscard]] const Resource* find_resource(std::string_view group, std::string_view version, std::string_view name);

}  // namespace drover::kube
