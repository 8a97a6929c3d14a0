// From a placed job to what one node is told to start. The generic part is made here; what only a
// door knows (its variables, its log-name patterns) is filled in by the door's own function, which
// the application hands over, so that control knows no door.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "control/payloads.h"
#include "domain/cluster.h"
#include "domain/session.h"
#include "domain/step.h"

namespace drover::control {

struct LaunchInput {
  const Cluster& cluster;
  const Job& job;
  const NodeShare& share;       // of the node that is told
  const JobSpec& spec;
  std::string_view environment;  // NUL-separated, as submitted
};

// Fills in arguments, environment, work_dir and the three paths.
using DoorLaunch = std::function<void(const LaunchInput&, Launch&)>;
// Fills in the tasks (arguments, variables, binding, paths), the environment and what else the client
// asked for of a step.
using DoorStep = std::function<void(const Cluster&, const Job&, const Step&, const StepSpec&, const StepShare&,
                                    StepLaunch&)>;

// What a node needs to run a pod, with what its containers lack; an error: it can't be read at all.
using DoorPod = std::function<Result<PodLaunch>(const Cluster&, const Job&, const NodeShare&)>;

struct Door {
  DoorLaunch batch;  // empty: the door has pods alone
  DoorStep step;     // empty: the door has no steps
  DoorPod pod;       // empty: the door has no pods
};
using DoorLaunches = std::map<std::string, Door>;  // by JobSpec::door, StepSpec::door

[[nodiscard]] Result<Launch> make_launch(const Cluster& cluster, const Job& job, const NodeShare& share,
                                         Payloads& payloads, const DoorLaunches& doors);
// Of a pod on the node that holds it.
[[nodiscard]] Result<PodLaunch> make_pod_launch(const Cluster& cluster, const Job& job, NodeId node, Payloads& payloads,
                                                const DoorLaunches& doors);
// Of a node's part of a step. An error is the end of that part: the node is not told.
[[nodiscard]] Result<StepLaunch> make_step_launch(const Cluster& cluster, const Job& job, const Step& step,
                                                  const StepShare& share, Payloads& payloads,
                                                  const DoorLaunches& doors);

}  // namespace drover::control
