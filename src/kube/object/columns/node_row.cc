#include <set>

#include "base/text.h"
#include "kube/object/columns/rows.h"
#include "kube/object/times.h"

namespace drover::kube {
namespace {

std::string status_of(const Value& node) {
  std::string status;
  const Array* conditions = array_at(node, "status.conditions");
  for (std::size_t i = 0; conditions != nullptr && i < conditions->size(); ++i) {
    const Value& one = (*conditions)[i];
    if (text_at(one, "type") != "Ready") continue;
    status = text_at(one, "status") == "True" ? "Ready" : "NotReady";
  }
  if (status.empty()) status = "Unknown";
  return flag_at(node, "spec.unschedulable") ? status + ",SchedulingDisabled" : status;
}

std::string roles_of(const Value& node) {
  constexpr std::string_view kPrefix = "node-role.kubernetes.io/";
  std::set<std::string> roles;
  if (const Object* labels = object_at(node, "metadata.labels")) {
    for (const auto& entry : *labels) {
      const std::string_view key = entry.key();
      if (key.starts_with(kPrefix) && key.size() > kPrefix.size()) {
        roles.emplace(key.substr(kPrefix.size()));
      } else if (key == "kubernetes.io/role" && !text(&entry.value()).empty()) {
        roles.emplace(text(&entry.value()));
      }
    }
  }
  return or_none(join(std::vector<std::string>(roles.begin(), roles.end()), ","));
}

std::string address_of(const Value& node, std::string_view type) {
  const Array* addresses = array_at(node, "status.addresses");
  for (std::size_t i = 0; addresses != nullptr && i < addresses->size(); ++i) {
    const Value& one = (*addresses)[i];
    if (text_at(one, "type") == type) return std::string(text_at(one, "address"));
  }
  return "<none>";
}

std::string info_of(const Value& node, const std::string& field) {
  const std::string_view value = text_at(node, "status.nodeInfo." + field);
  return value.empty() ? "<unknown>" : std::string(value);
}

}  // namespace

std::string name_of(const Value& object) { return std::string(text_at(object, "metadata.name")); }
std::string age_of(const Value& object, Instant now) {
  return age_text(text_at(object, "metadata.creationTimestamp"), now);
}
std::string or_none(std::string_view text) { return text.empty() ? "<none>" : std::string(text); }

Array node_row(const Value& node, Instant now) {
  return {name_of(node),
          status_of(node),
          roles_of(node),
          age_of(node, now),
          std::string(text_at(node, "status.nodeInfo.kubeletVersion")),
          address_of(node, "InternalIP"),
          address_of(node, "ExternalIP"),
          info_of(node, "osImage"),
          info_of(node, "kernelVersion"),
          info_of(node, "containerRuntimeVersion")};
}

}  // namespace drover::kube
