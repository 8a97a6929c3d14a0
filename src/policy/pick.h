// Which devices and CPUs of a node a job gets, by name: GPUs that are linked and near each other,
// CPUs near the GPUs, the smallest GPUs that do.
#pragma once

#include <cstdint>

#include "domain/node.h"
#include "domain/placement.h"
#include "policy/fit.h"
#include "policy/need.h"
#include "policy/room.h"

namespace drover::policy {

// `spare`: what is taken only when nothing else is left (a reservation leaves to others what is free
// now); nullptr for none. The units must fit in the room.
[[nodiscard]] NodeShare pick_share(const Need& need, const Match& match, const Node& node, const Room& room,
                                   std::uint32_t units, std::uint32_t tasks, const Room* spare);

}  // namespace drover::policy
