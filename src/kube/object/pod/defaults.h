// What an API server writes into a pod that doesn't say it. Unlike a real one it mounts no token of
// the service account: nothing in a pod speaks to the API as its service account.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "kube/json/value.h"
#include "kube/object/pod/rules.h"

namespace drover::kube {

// The priority class that a pod names, or the global default; its value is the pod's priority.
struct PriorityChoice {
  std::string name;
  std::int64_t value = 0;
  std::string preemption = "PreemptLowerPriority";
};

// A pod that names no priority class and finds no global default is of priority 0. Ordinary users'
// pods run as themselves, and can't gain privileges, unless they say so (which validate_pod
// refuses).
void default_pod(Value& pod, const PodRules& rules, const std::optional<PriorityChoice>& priority);

// "Always" for `:latest` and no tag, else "IfNotPresent".
[[nodiscard]] std::string_view default_pull_policy(std::string_view image);

}  // namespace drover::kube
