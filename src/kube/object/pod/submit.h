// The job of a pod: a gang of one that asks for what the pod's containers need.
#pragma once

#include <cstdint>
#include <string>

#include "domain/command.h"
#include "domain/request.h"
#include "kube/json/value.h"

namespace drover::kube {

struct SubmitRules {
  std::string account;    // of the namespace
  std::string partition;  // "" the cluster's default
  std::string qos;
  std::int64_t priority = 0;  // the priority class's value; spec.priority of a defaulted pod
  std::int64_t base_priority = 1000;  // of work that nobody gave a priority (domain/decide.h)
};

// `pod` has its defaults and has passed validate_pod. `as` and `spec` of the result are the
// caller's to fill. activeDeadlineSeconds is the node's to watch (PodLaunch::deadline), not a limit
// of the job: it counts from the pod's start and not from its placement. A priority of 0 leaves the
// job's to the cluster.
[[nodiscard]] Submit submit_of(const Value& pod, const SubmitRules& rules);

// What it asks of its node, and of other pods.
[[nodiscard]] Request request_of(const Value& pod);

}  // namespace drover::kube
