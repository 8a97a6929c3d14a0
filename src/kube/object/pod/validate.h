// Whether a pod may be: an API server's rules in its own words, and a clear no to what drover
// doesn't do. Nothing is accepted that would then be ignored: what has no effect here says so as a
// warning.
#pragma once

#include "kube/json/value.h"
#include "kube/object/pod/rules.h"
#include "kube/object/problems.h"

namespace drover::kube {

// Of a new pod that has its defaults; metadata included.
[[nodiscard]] Problems validate_pod(const Value& pod, const PodRules& rules);

// Of a change of one that is there, both as readers see them (render_pod): spec.nodeName must be
// the one that the cluster has chosen. Only images, activeDeadlineSeconds, added tolerations and
// metadata may change.
[[nodiscard]] Problems validate_pod_update(const Value& was, const Value& now);

}  // namespace drover::kube
