// A pod as readers see it: its manifest, and on top of it what the cluster and its node know.
#pragma once

#include <string>
#include <string_view>

#include "domain/cluster.h"
#include "kube/json/value.h"

namespace drover::kube {

struct PodView {
  // Why it waits (unschedulable.h), and since when that is known; "": nobody has looked yet.
  std::string waits;
  Instant waits_since;
};

// Sets spec.nodeName and the whole status. `job` is the pod's; while its node is lost, Ready is
// Unknown and all else stays as it was last known.
void render_pod(Value& pod, const Cluster& cluster, const Job& job, const PodView& view);

// The opposite: what is to be stored of a pod that a client has read, changed and sent back.
// `stored` is the manifest before.
void unrender_pod(Value& pod, const Value& stored);

// A pod whose job has been forgotten, or that has none: Failed, with this reason.
void render_pod_without_job(Value& pod, std::string_view reason, std::string_view message);

}  // namespace drover::kube
