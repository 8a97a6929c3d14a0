// What a pod asks for as a whole, by Kubernetes' rule: its containers and sidecars together, or the
// largest of its init containers with the sidecars before it, and the overhead on top.
#pragma once

#include <cstdint>
#include <string_view>

#include "kube/json/value.h"

namespace drover::kube {

struct PodNeeds {
  std::int64_t cpu_milli = 0;
  std::int64_t memory = 0;  // bytes
  std::int64_t disk = 0;    // bytes, ephemeral-storage
  std::int64_t gpus = 0;
  friend bool operator==(const PodNeeds&, const PodNeeds&) = default;
};

[[nodiscard]] PodNeeds needs_of(const Value& pod);

// "Guaranteed", "Burstable" or "BestEffort".
[[nodiscard]] std::string_view qos_class(const Value& pod);

}  // namespace drover::kube
