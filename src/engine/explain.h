// Why one job waits, with amounts: what each node refuses, who is ahead, when it may start.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "domain/cluster.h"
#include "domain/refusal.h"

namespace drover::engine {

// The same refusal of several nodes, as one; amounts are of the node that comes nearest.
struct Obstacle {
  Refusal refusal;
  std::uint32_t nodes = 0;
  std::vector<std::string> names;  // of at most eight of them
};

struct Obstacles {
  std::uint32_t nodes = 0;          // in its partitions
  std::uint32_t fitting = 0;        // could take a part of it now
  std::vector<Obstacle> list;       // the most frequent first
};

struct Explanation {
  Reason reason = Reason::none;
  std::uint32_t nodes = 0;          // in its partitions
  std::uint32_t fitting = 0;        // could take a part of it now
  std::vector<Obstacle> obstacles;  // the most frequent first
  std::vector<JobId> ahead;         // queued before it, in order; at most a hundred
  std::uint32_t ahead_count = 0;
  Instant start;                    // of its reservation; Instant{}: it has none
  std::vector<std::string> reserved_nodes;
};

// Of a waiting job; looks at its nodes alone, never at other jobs.
[[nodiscard]] Obstacles obstacles_of(const Cluster& cluster, const Job& job);
[[nodiscard]] Explanation explain(const Cluster& cluster, JobId job, Instant now);

}  // namespace drover::engine
