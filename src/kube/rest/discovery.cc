#include "kube/rest/discovery.h"

#include <algorithm>
#include <map>
#include <optional>

#include "kube/rest/resource.h"

namespace drover::kube {
namespace {

Array words(const std::vector<std::string_view>& list) {
  Array array;
  for (const std::string_view word : list) array.emplace_back(word);
  return array;
}

std::string group_version(std::string_view group, std::string_view version) {
  return group.empty() ? std::string(version) : std::string(group) + "/" + std::string(version);
}

// Groups other than core, each with its versions, in the order of the table.
std::map<std::string_view, std::vector<std::string_view>> groups() {
  std::map<std::string_view, std::vector<std::string_view>> all;
  for (const Resource& resource : resources()) {
    if (resource.group.empty()) continue;
    auto& versions = all[resource.group];
    if (std::ranges::find(versions, resource.version) == versions.end()) versions.push_back(resource.version);
  }
  return all;
}

Value group_object(std::string_view name, const std::vector<std::string_view>& versions) {
  Array list;
  for (const std::string_view version : versions) {
    list.push_back(Object{{"groupVersion", group_version(name, version)}, {"version", version}});
  }
  const Value preferred = list.front();
  return Object{{"name", name}, {"versions", std::move(list)}, {"preferredVersion", preferred}};
}

Object plain_resource(const Resource& resource) {
  Object object{{"name", resource.name},
                {"singularName", resource.singular},
                {"namespaced", resource.namespaced},
                {"kind", resource.kind},
                {"verbs", words(resource.verbs)}};
  if (!resource.short_names.empty()) object["shortNames"] = words(resource.short_names);
  if (!resource.categories.empty()) object["categories"] = words(resource.categories);
  return object;
}

Object plain_subresource(const Resource& resource, const Subresource& sub) {
  Object object{{"name", std::string(resource.name) + "/" + std::string(sub.name)},
                {"singularName", ""},
                {"namespaced", resource.namespaced},
                {"kind", sub.kind},
                {"verbs", words(sub.verbs)}};
  // Without these, kubectl drain would delete instead of evicting.
  if (!sub.version.empty()) {
    object["group"] = sub.group;
    object["version"] = sub.version;
  }
  return object;
}

Object kind_of(std::string_view group, std::string_view version, std::string_view kind) {
  return {{"group", group}, {"version", version}, {"kind", kind}};
}

Object aggregated_resource(const Resource& resource) {
  Object object{{"resource", resource.name},
                {"responseKind", kind_of(resource.group, resource.version, resource.kind)},
                {"scope", resource.namespaced ? "Namespaced" : "Cluster"},
                {"singularResource", resource.singular},
                {"verbs", words(resource.verbs)}};
  if (!resource.short_names.empty()) object["shortNames"] = words(resource.short_names);
  if (!resource.categories.empty()) object["categories"] = words(resource.categories);
  Array subs;
  for (const Subresource& sub : resource.subresources) {
    const std::string_view group = sub.version.empty() ? resource.group : sub.group;
    const std::string_view version = sub.version.empty() ? resource.version : sub.version;
    subs.push_back(Object{
        {"subresource", sub.name}, {"responseKind", kind_of(group, version, sub.kind)}, {"verbs", words(sub.verbs)}});
  }
  if (!subs.empty()) object["subresources"] = std::move(subs);
  return object;
}

Value aggregated_group(std::string_view group, const std::vector<std::string_view>& versions) {
  Array list;
  for (const std::string_view version : versions) {
    Array inside;
    for (const Resource& resource : resources()) {
      if (resource.group == group && resource.version == version) inside.push_back(aggregated_resource(resource));
    }
    list.push_back(Object{{"version", version}, {"resources", std::move(inside)}, {"freshness", "Current"}});
  }
  Object metadata{{"creationTimestamp", nullptr}};
  if (!group.empty()) metadata["name"] = group;
  return Object{{"metadata", std::move(metadata)}, {"versions", std::move(list)}};
}

}  // namespace

Value version_info() {
  return Object{{"major", "1"},    {"minor", "33"},           {"gitVersion", kServedVersion},
                {"gitCommit", ""}, {"gitTreeState", "clean"}, {"buildDate", "1970-01-01T00:00:00Z"},
                {"goVersion", ""}, {"compiler", "g++"},       {"platform", "linux/amd64"}};
}

Value legacy_versions(std::string_view address) {
  return Object{
      {"kind", "APIVersions"},
      {"versions", Array{"v1"}},
      {"serverAddressByClientCIDRs", Array{Object{{"clientCIDR", "0.0.0.0/0"}, {"serverAddress", address}}}}};
}

Value group_list() {
  Array list;
  for (const auto& [name, versions] : groups()) list.push_back(group_object(name, versions));
  return Object{{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", std::move(list)}};
}

std::optional<Value> group_of(std::string_view group) {
  const auto all = groups();
  const auto found = all.find(group);
  if (found == all.end()) return std::nullopt;
  Value object = group_object(group, found->second);
  object.as_object()["kind"] = "APIGroup";
  object.as_object()["apiVersion"] = "v1";
  return object;
}

std::optional<Value> resource_list(std::string_view group, std::string_view version) {
  Array list;
  for (const Resource& resource : resources()) {
    if (resource.group != group || resource.version != version) continue;
    list.push_back(plain_resource(resource));
    for (const Subresource& sub : resource.subresources) list.push_back(plain_subresource(resource, sub));
  }
  if (list.empty()) return std::nullopt;
  Object object{{"kind", "APIResourceList"}};
  if (!group.empty()) object["apiVersion"] = "v1";
  object["groupVersion"] = group_version(group, version);
  object["resources"] = std::move(list);
  return object;
}

Value aggregated(bool core, Discovery version) {
  Array items;
  if (core) {
    items.push_back(aggregated_group("", {"v1"}));
  } else {
    for (const auto& [name, versions] : groups()) items.push_back(aggregated_group(name, versions));
  }
  const std::string_view api = version == Discovery::v2 ? "apidiscovery.k8s.io/v2" : "apidiscovery.k8s.io/v2beta1";
  return Object{
      {"kind", "APIGroupDiscoveryList"}, {"apiVersion", api}, {"metadata", Object{}}, {"items", std::move(items)}};
}

std::string discovery_type(Discovery version) {
  const std::string name = version == Discovery::v2 ? "v2" : "v2beta1";
  return "application/json;g=apidiscovery.k8s.io;v=" + name + ";as=APIGroupDiscoveryList";
}

}  // namespace drover::kube
