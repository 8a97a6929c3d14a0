// Looking ahead: when and where a job could start once the jobs that run have ended at their limits.
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "domain/cluster.h"
#include "engine/demand.h"
#include "engine/plan.h"
#include "engine/rooms.h"

namespace drover::engine {

// A placement that ends by itself, at its limit.
struct Release {
  Instant at;
  const Placement* placement = nullptr;
  const Job* job = nullptr;  // of a running job: what it has given back already isn't given again
};

// The next full minute: a job past its limit is expected to be gone by then, again and again.
[[nodiscard]] Instant next_minute(Instant now);

// `next` gives one release after the other in the order of time, then nothing. Tries the demands in
// order at each instant; nothing when none of them fits even after the last release. `then` receives
// the rooms at that instant, of the nodes that differ from now.
[[nodiscard]] std::optional<Reserve> look_ahead(const Cluster& cluster, const Rooms& rooms,
                                                std::vector<Demand>& demands,
                                                const std::function<std::optional<Release>()>& next, Instant now,
                                                Overlay& then);

// What is left for jobs that run past a reservation's start. `then`: the rooms at that instant, for
// nodes that differ from now.
[[nodiscard]] Overlay keep_for(const Cluster& cluster, const Rooms& rooms, const Placement& placement,
                               const Overlay& then);

}  // namespace drover::engine
