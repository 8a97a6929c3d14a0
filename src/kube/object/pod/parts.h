// The parts of a pod's manifest that many rules walk over. The body fits its schema: members have
// the types that Kubernetes gives them (kube/schema has seen to it).
#pragma once

#include <string_view>
#include <vector>

#include "kube/json/value.h"
#include "kube/object/problems.h"
#include "kube/select/quantity.h"

namespace drover::kube {

inline constexpr std::string_view kGpuResource = "nvidia.com/gpu";
inline constexpr std::string_view kGpuConditionAnnotation = "drover.dev/gpu";

struct ContainerPart {
  const Value* value = nullptr;
  bool init = false;
  bool sidecar = false;  // an init container that goes on beside the others
  Path path;             // spec.initContainers[0]

  [[nodiscard]] std::string_view name() const { return text_at(*value, "name"); }
};

// Init containers first, in order, as they run.
[[nodiscard]] std::vector<ContainerPart> containers_of(const Value& pod);

// An amount of resources.requests or .limits; zero when there is none or it can't be read.
// Names hold dots, so it isn't a path.
[[nodiscard]] Quantity amount_of(const Value& container, std::string_view part,
                                 std::string_view resource);
[[nodiscard]] const Object* resource_list(const Value& container, std::string_view part);

// An annotation's or label's text, "" without it.
[[nodiscard]] std::string_view annotation_of(const Value& object, std::string_view key);
[[nodiscard]] std::string_view label_of(const Value& object, std::string_view key);

}  // namespace drover::kube
