// A job's guardian: starts it, limits its time, passes signals on, and notes how it ended. It needs
// nobody: agent and keeper may come and go. While its keeper lives it guards one job after the other,
// for a process and its cgroup directories cost more to make than most of what else a start takes.
#pragma once

#include <string>

#include "agent/cgroup/cgroup.h"
#include "agent/shim/handover.h"
#include "agent/shim/records.h"
#include "agent/shim/spec.h"
#include "os/fd.h"

namespace drover::agent {

struct ShimPlace {
  const Records& records;
  const CgroupTree& cgroups;
  std::string group;  // a name that no other shim of this boot has for its cgroup
  std::string boot_id;
  Fd line;  // from the keeper; closed when this shim can't serve again, before its job is said to have ended
};

// Runs attempt after attempt in this process, which has no other duties, until the keeper lets go.
void run_shim(ShimPlace place, Handover first);

}  // namespace drover::agent
