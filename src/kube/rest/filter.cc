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

std::string value_of(const Entry& entry, std::string_view field) {
  if (field == "metadata.name") return entry.name.name;
  if (field == "metadata.namespace") return entry.name.space;
  const Value* value = at(entry.value, place_of(field));
  if (value == nullptr && field.starts_with("regarding.")) {
    value = at(entry.value, "involvedObject." + std::string(field.substr(10)));
  }
  if (value != nullptr && value->is_bool()) return value->get_bool() ? "true" : "false";
  if (value == nullptr && (field == "spec.unschedulable" || field == "spec.hostNetwork")) return "false";
  return std::string(text(value));
}

}  // namespace

bool Filter::wants(const Entry& entry) const {
  if (!labels.matches(object_at(entry.value, "metadata.labels"))) return false;
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
