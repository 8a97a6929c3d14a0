// What of a need fits on a node: the part that never changes (match), the arithmetic (units), and the
// same as rows that each give nothing or the reason with amounts.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "domain/node.h"
#include "domain/refusal.h"
#include "policy/need.h"
#include "policy/room.h"

namespace drover::policy {

// Of a node for a need, whatever is free there.
struct Match {
  bool ok = false;
  bool tolerated = true;                           // no taint of the node is in the way: until it is taken off
  std::uint32_t ways = 0;                          // bit = way of the feature expression
  std::array<std::uint64_t, kMaxAsks> devices{};   // bit = device that the ask may be given
};
[[nodiscard]] Match match_of(const Need& need, const Node& node);

// What so many units cost on a node.
struct Cost {
  std::uint32_t tasks = 0;
  std::uint32_t cpus = 0;       // whole ones
  std::uint32_t cpu_milli = 0;  // beside those, whole or in parts
  Bytes memory;
  std::array<std::uint32_t, kMaxAsks> gpus{};
};
[[nodiscard]] Cost cost_of(const Need& need, const Node& node, std::uint32_t units);

// How many units fit, at most `most`; 0 when fewer than the least do.
[[nodiscard]] std::uint32_t units_in(const Need& need, const Match& match, const Node& node, const Room& room,
                                     std::uint32_t most);

// Why not even the least fits; nothing when it does. The first row that refuses.
[[nodiscard]] std::optional<Refusal> refusal_of(const Need& need, const Node& node, const Room& room);

// Lower is better: fill the node that is fullest, keep GPU nodes for GPU jobs and big GPUs for jobs
// that need them.
[[nodiscard]] std::uint64_t rank_of(const Need& need, const Match& match, const Node& node, const Room& room);

}  // namespace drover::policy
