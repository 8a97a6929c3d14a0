// What happened lately, from the log: so that who follows the changes can be told of them again after a
// restart, one by one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "domain/cluster.h"
#include "domain/event.h"
#include "store/log.h"

namespace drover::control {

struct Past {
  struct Group {  // one record
    Instant at;
    std::vector<Event> facts;
  };
  Cluster cluster;  // before the first group
  Instant at;       // of the record before it
  std::deque<Group> groups;
};

// Up to the record at `position`, about the last `most` facts, as far as the log still holds them.
[[nodiscard]] Result<Past> past_of(store::Log& log, std::uint64_t position, std::size_t most);

}  // namespace drover::control
