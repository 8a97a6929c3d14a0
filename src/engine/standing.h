// Where a waiting job stands before any node is looked at: may it be tried, in which of its
// partitions, and if not, why and until when.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "domain/cluster.h"

namespace drover::engine {

struct Standing {
  bool eligible = false;        // nothing but resources and limits keeps it (its age counts)
  bool queued = false;          // it may be tried
  Reason reason = Reason::none; // when it may not
  std::uint32_t partitions = 0; // bit = place in its list of partitions that would take it
  std::int64_t tier = 0;        // the highest of those
  Instant alarm;                // when that may change by itself; Instant{}: it doesn't
};

// `active`: how many tasks of its array are running, for its throttle. A job is eligible once a fact
// says so, so this needs no clock.
[[nodiscard]] Standing standing_of(const Cluster& cluster, const Job& job, std::uint32_t active);

// The names in a job's list of partitions.
[[nodiscard]] std::vector<std::string_view> partition_names(const Cluster& cluster, Symbol partitions);

// The shortest time that will do for the job; Duration::max(): it has no limit.
[[nodiscard]] Duration least_time(const Job& job);

}  // namespace drover::engine
