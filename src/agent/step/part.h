// The guardian of a node's part of a step: starts its tasks, carries what they read and write, limits
// its time, and notes how each task and the whole ended. Like a job's shim it needs nobody.
#pragma once

#include <string>

#include "agent/cgroup/cgroup.h"
#include "agent/shim/records.h"
#include "agent/step/spec.h"
#include "os/fd.h"

namespace drover::agent {

struct PartPlace {
  const Records& records;
  const CgroupTree& cgroups;
  std::string key;
  Fd control;  // bound at records.control_path(key)
  Fd stream;   // listens at records.stream_path(key)
  std::string boot_id;
};

// Runs the part to its end in this process, which has no other duties, and stays until its client has
// all that it is owed.
void run_part(PartPlace place, const PartSpec& spec);

}  // namespace drover::agent
