// What a node has free, now or at a later instant. The engine keeps one for each node.
#pragma once

#include <cstdint>
#include <map>

#include "base/quantity.h"
#include "domain/cpu_set.h"
#include "domain/node.h"
#include "domain/placement.h"

namespace drover::policy {

inline constexpr std::size_t kMaxDevices = 64;  // on one node; registration refuses more

struct Room {
  CpuSet cpus;
  std::uint32_t cpu_count = 0;  // of `cpus`
  std::map<std::uint32_t, Milli> parts;  // CPUs that are granted in parts, none of them in `cpus`: what is taken
  Bytes memory;
  std::uint64_t devices = 0;    // bit = place in Node::devices: healthy and wholly free
  std::uint32_t jobs = 0;
  bool exclusive = false;       // a job has it to itself
  bool open = true;             // neither drained nor lost
  friend bool operator==(const Room&, const Room&) = default;
};

// What is left of the CPUs that are granted in parts.
[[nodiscard]] Milli rest_of_parts(const Room& room);
[[nodiscard]] Room room_of(const Node& node);        // now
[[nodiscard]] Room idle_room_of(const Node& node);   // with nothing on it, open or not
void take(Room& room, const Node& node, const NodeShare& share, bool exclusive);
void give(Room& room, const Node& node, const NodeShare& share, bool exclusive);
// Does the room still hold all that the share names?
[[nodiscard]] bool covers(const Room& room, const Node& node, const NodeShare& share, bool exclusive);

}  // namespace drover::policy
