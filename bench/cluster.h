// Played inputs: a cluster of GPU nodes, jobs that fit at once and jobs that wait.
#pragma once

#include <cstdint>

#include "engine/core.h"

namespace drover::bench {

[[nodiscard]] Input configure();
[[nodiscard]] Input node(std::uint32_t number, std::uint32_t cpus, std::uint32_t gpus);
[[nodiscard]] Input submit_small(std::size_t number);
// It runs for ever, so that nobody gets all nodes.
[[nodiscard]] Input submit_endless();
// It wants all nodes for itself, and waits behind its like.
[[nodiscard]] Input submit_too_big(std::size_t number);

// One input, then passes until the core asks for no more. The facts of all.
std::vector<Event> settle(engine::Core& core, const Input& input, Instant now);
// Submit, placement, start and end.
void live_once(engine::Core& core, const Input& submit, Instant now);

}  // namespace drover::bench
