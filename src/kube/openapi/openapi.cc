#include "kube/openapi/openapi.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "base/hash.h"
#include "kube/json/print.h"
#include "kube/openapi/definitions.h"
#include "kube/openapi/gnostic.h"
#include "kube/openapi/paths.h"
#include "kube/schema/resources.h"

namespace drover::kube {
namespace {

OpenApiText finished(std::string path, std::string body) {
  std::array<char, 17> hash{};
  std::snprintf(hash.data(), hash.size(), "%016llx", static_cast<unsigned long long>(fnv1a(body)));
  return {std::move(path), std::move(body), hash.data()};
}

Object info(std::string_view version) { return {{"title", "Kubernetes"}, {"version", version}}; }

using GroupNames = std::vector<std::pair<std::string_view, std::string_view>>;

GroupNames served_groups() {
  GroupNames groups;
  for (const Resource& resource : resources()) {
    const std::pair group{resource.group, resource.version};
    if (std::ranges::find(groups, group) == groups.end()) groups.push_back(group);
  }
  return groups;
}

// The kinds that a client may ask about in this group; all of them for "" and "".
std::vector<const Message*> kinds_of(std::string_view group, std::string_view version) {
  std::vector<const Message*> kinds;
  for (const Message& message : Schema::built_in().messages()) {
    const bool wanted = version.empty() || (message.group == group && message.version == version);
    if (message.kind && wanted) kinds.push_back(&message);
  }
  for (const Resource& resource : resources()) {  // kinds of other groups, as pods have evictions
    if (resource.group != group || resource.version != version) continue;
    for (const Subresource& part : resource.subresources) {
      const Message* kind = part.version.empty()
                                ? nullptr
                                : Schema::built_in().kind(part.group, part.version, part.kind);
      if (kind != nullptr) kinds.push_back(kind);
    }
  }
  return kinds;
}

Value v2(std::string_view version) {
  Object all;
  for (const auto& [group, group_version] : served_groups()) {
    for (auto& path : paths(Dialect::v2, group, group_version))
      all.emplace(path.key(), std::move(path.value()));
  }
  Object document;
  document.emplace("swagger", "2.0");
  document.emplace("info", info(version));
  document.emplace("paths", std::move(all));
  document.emplace("definitions", definitions(Dialect::v2, kinds_of({}, {})));
  return document;
}

std::string v3(std::string_view group, std::string_view group_version, std::string_view version) {
  Object components;
  components.emplace("schemas", definitions(Dialect::v3, kinds_of(group, group_version)));
  Object document;
  document.emplace("openapi", "3.0.0");
  document.emplace("info", info(version));
  document.emplace("paths", paths(Dialect::v3, group, group_version));
  document.emplace("components", std::move(components));
  return print(document);
}

OpenApiText index_of(const std::vector<OpenApiText>& documents) {
  Object list;
  for (const OpenApiText& document : documents) {
    list.emplace(document.path, Object{{"serverRelativeURL", "/openapi/v3/" + document.path +
                                                                 "?hash=" + document.hash}});
  }
  return finished({}, print(Object{{"paths", std::move(list)}}));
}

}  // namespace

const OpenApiText* OpenApi::find_v3(std::string_view path) const {
  const auto it = std::ranges::find(v3, path, &OpenApiText::path);
  return it == v3.end() ? nullptr : &*it;
}

OpenApi make_open_api(std::string_view version) {
  OpenApi all;
  const Value document = v2(version);
  all.v2_json = finished({}, print(document));
  all.v2_protobuf = finished({}, gnostic_document(document));
  for (const auto& [group, group_version] : served_groups()) {
    const std::string path = group.empty()
                                 ? "api/" + std::string(group_version)
                                 : "apis/" + std::string(group) + "/" + std::string(group_version);
    all.v3.push_back(finished(path, v3(group, group_version, version)));
  }
  all.v3_index = index_of(all.v3);
  return all;
}

}  // namespace drover::kube
