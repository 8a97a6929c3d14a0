#include "kube/schema/resources.h"

#include <algorithm>

namespace drover::kube {
namespace {

using Words = std::vector<std::string_view>;

const Words kAll{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};
const Words kCreate{"create"};
const Words kRead{"get", "list"};

const std::vector<Resource>& table() {
  static const std::vector<Resource> kTable{
      {.version = "v1", .name = "configmaps", .singular = "configmap", .kind = "ConfigMap", .short_names = {"cm"},
       .verbs = kAll},
      {.version = "v1", .name = "events", .singular = "event", .kind = "Event", .short_names = {"ev"}, .verbs = kAll},
      {.version = "v1", .name = "namespaces", .singular = "namespace", .kind = "Namespace", .namespaced = false,
       .short_names = {"ns"}, .verbs = {"create", "delete", "get", "list", "patch", "update", "watch"},
       .subresources = {{.name = "status", .kind = "Namespace", .verbs = {"get"}}}},
      {.version = "v1", .name = "nodes", .singular = "node", .kind = "Node", .namespaced = false, .short_names = {"no"},
       .verbs = {"get", "list", "patch", "update", "watch"},
       .subresources = {{.name = "status", .kind = "Node", .verbs = {"get"}}}},
      {.version = "v1", .name = "pods", .singular = "pod", .kind = "Pod", .short_names = {"po"}, .categories = {"all"},
       .verbs = kAll,
       .subresources = {{.name = "attach", .kind = "PodAttachOptions", .verbs = {"create", "get"}},
                        {.name = "binding", .kind = "Binding", .verbs = kCreate},
                        {.name = "eviction", .kind = "Eviction", .group = "policy", .version = "v1", .verbs = kCreate},
                        {.name = "exec", .kind = "PodExecOptions", .verbs = {"create", "get"}},
                        {.name = "log", .kind = "Pod", .verbs = {"get"}},
                        {.name = "portforward", .kind = "PodPortForwardOptions", .verbs = {"create", "get"}},
                        {.name = "status", .kind = "Pod", .verbs = {"get"}}}},
      {.version = "v1", .name = "secrets", .singular = "secret", .kind = "Secret", .verbs = kAll},
      {.version = "v1", .name = "serviceaccounts", .singular = "serviceaccount", .kind = "ServiceAccount",
       .short_names = {"sa"}, .verbs = kAll,
       .subresources = {{.name = "token", .kind = "TokenRequest", .group = "authentication.k8s.io", .version = "v1",
                         .verbs = kCreate}}},
      {.group = "authentication.k8s.io", .version = "v1", .name = "selfsubjectreviews", .singular = "selfsubjectreview",
       .kind = "SelfSubjectReview", .namespaced = false, .verbs = kCreate},
      {.group = "authentication.k8s.io", .version = "v1", .name = "tokenreviews", .singular = "tokenreview",
       .kind = "TokenReview", .namespaced = false, .verbs = kCreate},
      {.group = "authorization.k8s.io", .version = "v1", .name = "selfsubjectaccessreviews",
       .singular = "selfsubjectaccessreview", .kind = "SelfSubjectAccessReview", .namespaced = false, .verbs = kCreate},
      {.group = "authorization.k8s.io", .version = "v1", .name = "selfsubjectrulesreviews",
       .singular = "selfsubjectrulesreview", .kind = "SelfSubjectRulesReview", .namespaced = false, .verbs = kCreate},
      {.group = "coordination.k8s.io", .version = "v1", .name = "leases", .singular = "lease", .kind = "Lease",
       .verbs = kAll},
      {.group = "metrics.k8s.io", .version = "v1beta1", .name = "nodes", .singular = "node", .kind = "NodeMetrics",
       .namespaced = false, .verbs = kRead},
      {.group = "metrics.k8s.io", .version = "v1beta1", .name = "pods", .singular = "pod", .kind = "PodMetrics",
       .verbs = kRead},
      {.group = "scheduling.k8s.io", .version = "v1", .name = "priorityclasses", .singular = "priorityclass",
       .kind = "PriorityClass", .namespaced = false, .short_names = {"pc"}, .verbs = kAll},
  };
  return kTable;
}

}  // namespace

bool Resource::allows(std::string_view verb) const { return std::ranges::find(verbs, verb) != verbs.end(); }

const Subresource* Resource::subresource(std::string_view wanted) const {
  const auto found = std::ranges::find(subresources, wanted, &Subresource::name);
  return found == subresources.end() ? nullptr : &*found;
}

std::span<const Resource> resources() { return table(); }

const Resource* find_resource(std::string_view group, std::string_view version, std::string_view name) {
  for (const Resource& resource : table()) {
    if (resource.group == group && resource.version == version && resource.name == name) return &resource;
  }
  return nullptr;
}

}  // namespace drover::kube
