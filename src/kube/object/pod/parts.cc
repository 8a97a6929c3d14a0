#include "kube/object/pod/parts.h"

namespace drover::kube {

std::vector<ContainerPart> containers_of(const Value& pod) {
  std::vector<ContainerPart> parts;
  for (const bool init : {true, false}) {
    const char* list = init ? "initContainers" : "containers";
    const Value* spec = member(pod, "spec");
    const Array* array = spec == nullptr ? nullptr : array_at(*spec, list);
    if (array == nullptr) continue;
    for (std::size_t i = 0; i < array->size(); ++i) {
      const Value& value = (*array)[i];
      parts.push_back({.value = &value,
                       .init = init,
                       .sidecar = init && text_at(value, "restartPolicy") == "Always",
                       .path = (Path("spec") / list)[i]});
    }
  }
  return parts;
}

const Object* resource_list(const Value& container, std::string_view part) {
  const Value* resources = member(container, "resources");
  return resources == nullptr ? nullptr : object_at(*resources, part);
}

Quantity amount_of(const Value& container, std::string_view part, std::string_view resource) {
  const Object* list = resource_list(container, part);
  const Value* value = list == nullptr ? nullptr : list->if_contains(resource);
  if (value == nullptr) return {};
  const auto amount = Quantity::from(*value);
  return amount ? *amount : Quantity{};
}

std::string_view annotation_of(const Value& object, std::string_view key) {
  const Value* annotations = at(object, "metadata.annotations");
  return annotations == nullptr ? std::string_view{} : text(member(*annotations, key));
}

std::string_view label_of(const Value& object, std::string_view key) {
  const Value* labels = at(object, "metadata.labels");
  return labels == nullptr ? std::string_view{} : text(member(*labels, key));
}

}  // namespace drover::kube
