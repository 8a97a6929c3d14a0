#include "kube/schema/resources.h"

#include <algorithm>

namespace drover::kube {
namespace {

constexpr std::array<std::string_view, kVerbs> kVerbTexts{
    "create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};

constexpr Verbs kAll{Verb::create, Verb::remove, Verb::remove_collection,
                     Verb::get,    Verb::list,   Verb::patch,
                     Verb::update, Verb::watch};
constexpr Verbs kNamespaces{Verb::create, Verb::remove, Verb::get,  Verb::list,
                            Verb::patch,  Verb::update, Verb::watch};
constexpr Verbs kStatus{Verb::get, Verb::patch, Verb::update};
constexpr Verbs kCreate{Verb::create};
constexpr Verbs kRead{Verb::get, Verb::list};

SubResource status(std::string_view kind) { return {"status", kind, kStatus, {}, {}}; }

std::vector<Resource> core() {
  return {
      {"", "v1", "bindings", "binding", "Binding", true, kCreate, {}, {}, {}},
      {"", "v1", "configmaps", "configmap", "ConfigMap", true, kAll, {"cm"}, {}, {}},
      {"", "v1", "endpoints", "endpoints", "Endpoints", true, kAll, {"ep"}, {}, {}},
      {"", "v1", "events", "event", "Event", true, kAll, {"ev"}, {}, {}},
      {"",
       "v1",
       "namespaces",
       "namespace",
       "Namespace",
       false,
       kNamespaces,
       {"ns"},
       {},
       {{"finalize", "Namespace", {Verb::update}, {}, {}}, status("Namespace")}},
      {"", "v1", "nodes", "node", "Node", false, kAll, {"no"}, {}, {status("Node")}},
      {"",
       "v1",
       "persistentvolumeclaims",
       "persistentvolumeclaim",
       "PersistentVolumeClaim",
       true,
       kAll,
       {"pvc"},
       {},
       {status("PersistentVolumeClaim")}},
      {"",
       "v1",
       "pods",
       "pod",
       "Pod",
       true,
       kAll,
       {"po"},
       {"all"},
       {{"binding", "Binding", kCreate, {}, {}},
        {"eviction", "Eviction", kCreate, "policy", "v1"},
        {"log", "Pod", {Verb::get}, {}, {}},
        status("Pod")}},
      {"", "v1", "secrets", "secret", "Secret", true, kAll, {}, {}, {}},
      {"", "v1", "serviceaccounts", "serviceaccount", "ServiceAccount", true, kAll, {"sa"}, {}, {}},
      {"",
       "v1",
       "services",
       "service",
       "Service",
       true,
       kAll,
       {"svc"},
       {"all"},
       {status("Service")}},
  };
}

std::vector<Resource> named_groups() {
  constexpr std::string_view kAuthentication = "authentication.k8s.io";
  constexpr std::string_view kAuthorization = "authorization.k8s.io";
  return {
      {kAuthentication,
       "v1",
       "selfsubjectreviews",
       "selfsubjectreview",
       "SelfSubjectReview",
       false,
       kCreate,
       {},
       {},
       {}},
      {kAuthorization,
       "v1",
       "localsubjectaccessreviews",
       "localsubjectaccessreview",
       "LocalSubjectAccessReview",
       true,
       kCreate,
       {},
       {},
       {}},
      {kAuthorization,
       "v1",
       "selfsubjectaccessreviews",
       "selfsubjectaccessreview",
       "SelfSubjectAccessReview",
       false,
       kCreate,
       {},
       {},
       {}},
      {kAuthorization,
       "v1",
       "selfsubjectrulesreviews",
       "selfsubjectrulesreview",
       "SelfSubjectRulesReview",
       false,
       kCreate,
       {},
       {},
       {}},
      {kAuthorization,
       "v1",
       "subjectaccessreviews",
       "subjectaccessreview",
       "SubjectAccessReview",
       false,
       kCreate,
       {},
       {},
       {}},
      {"policy",
       "v1",
       "poddisruptionbudgets",
       "poddisruptionbudget",
       "PodDisruptionBudget",
       true,
       kAll,
       {"pdb"},
       {},
       {status("PodDisruptionBudget")}},
      {"scheduling.k8s.io",
       "v1",
       "priorityclasses",
       "priorityclass",
       "PriorityClass",
       false,
       kAll,
       {"pc"},
       {},
       {}},
      {"coordination.k8s.io", "v1", "leases", "lease", "Lease", true, kAll, {}, {}, {}},
      {"events.k8s.io", "v1", "events", "event", "Event", true, kAll, {"ev"}, {}, {}},
      {"metrics.k8s.io", "v1beta1", "nodes", "", "NodeMetrics", false, kRead, {}, {}, {}},
      {"metrics.k8s.io", "v1beta1", "pods", "", "PodMetrics", true, kRead, {}, {}, {}},
  };
}

}  // namespace

std::string_view verb_text(Verb verb) { return kVerbTexts[static_cast<std::size_t>(verb)]; }

std::vector<std::string_view> Verbs::texts() const {
  std::vector<std::string_view> texts;
  for (std::size_t i = 0; i < kVerbs; ++i) {
    if (has(static_cast<Verb>(i))) texts.push_back(kVerbTexts[i]);
  }
  return texts;
}

std::string Resource::api_version() const {
  return group.empty() ? std::string(version) : std::string(group) + "/" + std::string(version);
}

const SubResource* Resource::subresource(std::string_view name_of_it) const {
  const auto it = std::ranges::find(subresources, name_of_it, &SubResource::name);
  return it == subresources.end() ? nullptr : &*it;
}

std::span<const Resource> resources() {
  static const std::vector<Resource> all = [] {
    std::vector<Resource> list = core();
    std::ranges::move(named_groups(), std::back_inserter(list));
    return list;
  }();
  return all;
}

const Resource* find_resource(std::string_view group, std::string_view version,
                              std::string_view name) {
  for (const Resource& resource : resources()) {
    if (resource.name == name && resource.group == group && resource.version == version)
      return &resource;
  }
  return nullptr;
}

std::span<const ApiGroup> api_groups() {
  static const std::vector<ApiGroup> groups = [] {
    std::vector<ApiGroup> list;
    for (const Resource& resource : resources()) {
      if (list.empty() || list.back().name != resource.group)
        list.push_back({resource.group, resource.version});
    }
    return list;
  }();
  return groups;
}

}  // namespace drover::kube
