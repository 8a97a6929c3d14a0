// One job's guardian: starts it, limits its time, passes signals on, and notes how it ended. It
// needs nobody: agent and keeper may come and go.
#pragma once

#include <string>

#include "agent/cgroup/cgroup.h"
#include "agent/shim/records.h"
#include "agent/shim/spec.h"
#include "os/fd.h"

namespace drover::agent {

struct ShimPlace {
  const Records& records;
  const CgroupTree& cgroups;
  std::string key;
  Fd control;  // bound at records.control_path(key)
  std::string boot_id;
};

// Runs the attempt to its end in this process, which has no other duties.
void run_shim(ShimPlace place, const StartSpec& spec);

}  // namespace drover::agent
