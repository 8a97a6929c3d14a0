// What a slice of a pass wants to do, and the check that turns it into facts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "domain/facts.h"
#include "domain/job.h"
#include "domain/placement.h"

namespace drover::engine {

struct Start {
  JobId job;                     // the array's, for one of its tasks
  std::uint32_t task = kNoTask;  // of an array that still waits as one record
  std::string partition;
  Placement placement;
  Duration limit{0};
};

struct Reserve {
  JobId job;
  Instant start;
  std::string partition;
  Placement placement;
};

struct Plan {
  std::vector<Start> starts;
  std::optional<Reserve> reserve;
  bool complete = false;  // every job that might start was looked at
};

// Adds the facts of what still holds on the cluster as it is now; the rest of the plan is dropped.
// Returns how many starts were kept. A complete plan also settles which reservations stand.
std::size_t commit(Facts& facts, const Plan& plan, Instant now);

}  // namespace drover::engine
