// When and where a job would start if it were submitted now (sbatch --test-only). Pure, so that a
// follower's cluster can answer. Jobs that wait without a reservation are not counted before it.
#pragma once

#include <string>
#include <variant>

#include "domain/cluster.h"
#include "domain/command.h"
#include "domain/refusal.h"

namespace drover::engine {

struct WouldStart {
  Instant at;  // Instant{}: not as long as the jobs that run have no limits, or nodes are closed
  Placement placement;
  std::string partition;
};

[[nodiscard]] std::variant<WouldStart, Refusal> what_if_submitted(const Cluster& cluster, const Caller& caller,
                                                                  const Submit& wish, Instant now);

}  // namespace drover::engine
