#include "kube/rest/filter.h"

#include <span>

namespace drover::kube {
namespace {

// Beside metadata.name and metadata.namespace, which every resource has.
struct Row {
  std::string_view resource;
  std::vector<std::string_view> fields;
};
const Row kRows[] = {
    {"pods",
     {"metadata.name", "metadata.namespace", "spec.nodeName", "spec.restartPolicy", "spec.schedulerName",
      "spec.serviceAccountName", "spec.hostNetwork", "status.phase", "status.podIP", "status.nominatedNodeName"}},
    {"nodes", {"metadata.name", "metadata.namespace", "spec.unschedulable"}},
    {"events",
     {"metadata.name", "metadata.namespace", "involvedObject.kind", "involvedObject.namespace", "involvedObject.name",
      "involvedObject.uid", "involvedObject.apiVersion", "involvedObject.resourceVersion", "involvedObject.fieldPath",
      "reason", "reportingComponent", "source", "type", "regarding.kind", "regarding.namespace", "regarding.name",
      "regarding.uid"}},
    {"secrets", {"metadata.name", "metadata.namespace", "type"}},
    {"namespaces", {"metadata.name", "metadata.namespace", "status.phase"}},
};
constexpr std::string_view kCommon[] = {"metadata.name", "metadata.namespace"};

std::span<const std::string_view> fields_of(std::string_view resource) {
  for (const Row& row : kRows) {
    if (row.resource == resource) return row.fields;
  }
  return kCommon;
}

// Fields that the selector calls otherwise than the object.
std::string_view place_of(std::string_view field) {
  if (field == "source") return "source.component";
  return field;
}

// Of what is printed; a member that isn't there is "", or what it stands for then.
std::string value_of(const Entry& entry, std::string_view field) {
  if (field == "metadata.name") return entry.name.name;
  if (field == "metadata.namespace") return entry.name.space;
  Peek value = entry.look().at(place_of(field));
  if (!value.given() && field.starts_with("regarding.")) {
    value = entry.look().at("involvedObject." + std::string(field.substr(10)));
  }
  if (value.json() == "true" || value.json() == "false") return std::string(value.json());
  if (!value.given() && (field == "spec.unschedulable" || field == "spec.hostNetwork")) return "false";
  return value.text();
}

}  // namespace

bool Filter::wants(const Entry& entry) const {
  if (!labels.everything()) {
    const Peek given = entry.look().at("metadata.labels");
    std::string value;
    const auto look_up = [&](std::string_view key) -> std::optional<std::string_view> {
      const Peek label = given.member(key);
      if (!label.given()) return std::nullopt;
      value = label.text();
      return value;
    };
    if (!labels.matches_by(look_up)) return false;
  }
  return fields.matches([&](std::string_view field) { return value_of(entry, field); });
}

Outcome<Filter> filter_of(const Route& route, const wire::Target& target) {
  Filter filter{.space = route.space};
  auto labels = LabelSelector::parse(query(target, "labelSelector"));
  if (!labels) return bad_request(labels.error().message);
  filter.labels = std::move(*labels);
  auto fields = FieldSelector::parse(query(target, "fieldSelector"));
  if (!fields) return bad_request(fields.error().message);
  if (const Status known = fields->check(fields_of(route.resource->name)); !known) {
    return bad_request(known.error().message);
  }
  filter.fields = std::move(*fields);
  return filter;
}

}  // namespace drover::kube
