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
using DoorLaunches = std::map<std::string, DoorLaunch>;  // by JobSpec::door

[[nodiscard]] Result<Launch> make_launch(const Cluster& cluster, const Job& job, const NodeShare& share,
                                         Payloads& payloads, const DoorLaunches& doors);

}  // namespace drover::control
