// One slice of a scheduling pass: jobs in order, the first that can't start gets a reservation, the
// others start as long as they don't delay it (EASY backfill).
#pragma once

#include <cstdint>

#include "domain/cluster.h"
#include "engine/index.h"
#include "engine/plan.h"

namespace drover::engine {

// Pure: the indexes are as before when it returns, but for what is noted of classes and the head.
// `budget` counts starts, so that a slice is a function of the cluster alone: a job whose class can't
// start costs nothing, and the next slice looks at the queue from its head again.
[[nodiscard]] Plan plan_pass(const Cluster& cluster, Index& index, Instant now, std::uint32_t budget);

}  // namespace drover::engine
