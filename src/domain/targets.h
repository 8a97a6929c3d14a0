// What a wish is to be done to: records, and single tasks of arrays that still wait in their record.
#pragma once

#include <vector>

#include "domain/cluster.h"
#include "domain/command.h"
#include "domain/facts.h"

namespace drover {

// A record, or one task of an array that still waits in its record.
struct Target {
  JobId job;
  std::uint32_t task = kNoTask;
  bool named = false;  // by number, not found by a filter: the caller hears why it was refused
  JobRef as;           // how it was named
};

struct Selection {
  std::vector<Target> targets;       // in the order of the names, then of the ids
  std::vector<JobRefusal> refusals;  // of names that nothing stands for
};

[[nodiscard]] Selection select_targets(const Cluster& cluster, const JobSelector& selector);

// A task that waits in its array's record gets one of its own, so that it can be changed alone.
[[nodiscard]] JobId alone(Facts& facts, const Target& target);

}  // namespace drover
