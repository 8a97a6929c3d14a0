// Which resources the door serves: discovery, OpenAPI and the paths of requests all come from this
// one table, in the order in which an API server lists them.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kube/schema/schema.h"

namespace drover::kube {

enum class Verb : std::uint8_t {
  create,
  remove,
  remove_collection,
  get,
  list,
  patch,
  update,
  watch
};
inline constexpr std::size_t kVerbs = 8;

// "create", "delete", "deletecollection" ...: as discovery writes it.
[[nodiscard]] std::string_view verb_text(Verb verb);

class Verbs {
 public:
  constexpr Verbs(std::initializer_list<Verb> verbs) {
    for (const Verb verb : verbs) bits_ |= 1U << static_cast<unsigned>(verb);
  }
  [[nodiscard]] constexpr bool has(Verb verb) const {
    return (bits_ >> static_cast<unsigned>(verb) & 1U) != 0;
  }
  // In the order of discovery, which is the alphabet's.
  [[nodiscard]] std::vector<std::string_view> texts() const;

 private:
  unsigned bits_ = 0;
};

struct SubResource {
  std::string_view name;  // "status"
  std::string_view kind;  // "Pod"; may be of another group, as with Eviction
  Verbs verbs;
  std::string_view group;    // of the kind, where it isn't the resource's own: "policy"
  std::string_view version;  // "v1"; both "" for the resource's own
};

struct Resource {
  std::string_view group;     // "" for core
  std::string_view version;   // "v1"
  std::string_view name;      // "pods"
  std::string_view singular;  // "pod"
  std::string_view kind;      // "Pod"
  bool namespaced = false;
  Verbs verbs;
  std::vector<std::string_view> short_names;
  std::vector<std::string_view> categories;
  std::vector<SubResource> subresources;

  [[nodiscard]] std::string api_version() const;  // "v1", "policy/v1"
  [[nodiscard]] std::string list_kind() const { return std::string(kind) + "List"; }
  [[nodiscard]] const SubResource* subresource(std::string_view name_of_it) const;
};

// All of them. Built on the first call.
[[nodiscard]] std::span<const Resource> resources();

// Null for what isn't served.
[[nodiscard]] const Resource* find_resource(std::string_view group, std::string_view version,
                                            std::string_view name);

struct ApiGroup {
  std::string_view name;     // "" for core
  std::string_view version;  // the one version that we serve
};
// The groups in the order of discovery.
[[nodiscard]] std::span<const ApiGroup> api_groups();

}  // namespace drover::kube
