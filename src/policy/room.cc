#include "policy/room.h"

#include <algorithm>

#include "base/check.h"

namespace drover::policy {
namespace {

// Bits of the devices that the share names; with `healthy_only`, of those that may be granted again.
std::uint64_t bits_of(const Node& node, const NodeShare& share, bool healthy_only) {
  std::uint64_t bits = 0;
  for (const Grant& grant : share.devices) {
    const auto found = std::ranges::find(node.devices, grant.device, &Device::id);
    CHECK(found != node.devices.end());
    if (healthy_only && !found->info.healthy) continue;
    bits |= std::uint64_t{1} << (found - node.devices.begin());
  }
  return bits;
}

// The last part of a CPU to go makes it whole again.
void change_parts(Room& room, const NodeShare& share, bool taken) {
  for (const CpuPart& part : share.parts) {
    const bool whole = room.cpus.contains(part.cpu);
    // What is kept for later may be in somebody's hands until then, as a whole or more of it than is left.
    if (!whole && !room.parts.contains(part.cpu)) continue;
    Milli& held = room.parts[part.cpu];
    room.cpus.remove(part.cpu);
    held = taken ? std::min(held + part.milli, Milli::of(1000)) : held - part.milli;
    if (held > Milli{}) continue;
    room.parts.erase(part.cpu);
    room.cpus.add(part.cpu);
  }
}

bool covers_parts(const Room& room, const NodeShare& share) {
  return std::ranges::all_of(share.parts, [&](const CpuPart& part) {
    const auto held = room.parts.find(part.cpu);
    if (held == room.parts.end()) return room.cpus.contains(part.cpu) && !share.cpus.contains(part.cpu);
    return held->second + part.milli <= Milli::of(1000);
  });
}

}  // namespace

Milli rest_of_parts(const Room& room) {
  Milli rest;
  for (const auto& [cpu, taken] : room.parts) rest += Milli::of(1000) - taken;
  return rest;
}

Room idle_room_of(const Node& node) {
  Room room{.cpus = CpuSet::first(node.inventory.cpus), .cpu_count = node.inventory.cpus,
            .memory = node.inventory.memory};
  for (std::size_t i = 0; i < node.devices.size() && i < kMaxDevices; ++i) {
    if (node.devices[i].info.healthy) room.devices |= std::uint64_t{1} << i;
  }
  return room;
}

Room room_of(const Node& node) {
  Room room = idle_room_of(node);
  room.cpus -= node.cpus_used;
  room.parts = node.cpu_parts;
  room.parts.erase(room.parts.lower_bound(node.inventory.cpus), room.parts.end());  // since it came back with fewer
  room.cpu_count = room.cpus.count();
  room.memory -= node.memory_used;
  for (std::size_t i = 0; i < node.devices.size() && i < kMaxDevices; ++i) {
    if (node.devices[i].used > Milli{}) room.devices &= ~(std::uint64_t{1} << i);
  }
  room.jobs = static_cast<std::uint32_t>(node.jobs.size());
  room.exclusive = node.exclusive != 0;
  room.open = node.open();
  return room;
}

void take(Room& room, const Node& node, const NodeShare& share, bool exclusive) {
  room.cpus -= share.cpus;
  change_parts(room, share, true);
  room.cpu_count = room.cpus.count();
  room.memory -= share.memory;
  room.devices &= ~bits_of(node, share, false);
  ++room.jobs;
  room.exclusive = room.exclusive || exclusive;
}

void give(Room& room, const Node& node, const NodeShare& share, bool exclusive) {
  room.cpus |= share.cpus;
  change_parts(room, share, false);
  room.cpu_count = room.cpus.count();
  room.memory += share.memory;
  room.devices |= bits_of(node, share, true);
  if (room.jobs > 0) --room.jobs;
  if (exclusive) room.exclusive = false;
}

bool covers(const Room& room, const Node& node, const NodeShare& share, bool exclusive) {
  if (!room.open || room.exclusive || (exclusive && room.jobs > 0)) return false;
  CpuSet missing = share.cpus;
  missing -= room.cpus;
  const std::uint64_t devices = bits_of(node, share, false);
  return missing.empty() && covers_parts(room, share) && share.memory <= room.memory && (devices & ~room.devices) == 0;
}

}  // namespace drover::policy
