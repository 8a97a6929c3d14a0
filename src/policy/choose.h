// Which nodes a job gets, and how much of it each: all of a gang or nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "domain/ids.h"
#include "policy/need.h"

namespace drover::policy {

// What one node could take. `node` in rising order within a span of slots.
struct Slot {
  NodeId node;
  std::uint32_t units = 0;  // 0: nothing fits
  std::uint32_t ways = 0;   // Match::ways
  std::uint64_t rank = 0;   // lower is better
  bool wanted = false;      // the request names the node
};

struct Part {
  NodeId node;
  std::uint32_t units = 0;
  std::uint32_t tasks = 0;
};

// In node order, or nothing when it doesn't fit in full.
[[nodiscard]] std::optional<std::vector<Part>> choose(const Need& need, std::span<const Slot> slots);

}  // namespace drover::policy
