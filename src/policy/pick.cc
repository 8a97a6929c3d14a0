#include "policy/pick.h"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "base/check.h"

namespace drover::policy {
namespace {

using Bits = std::uint64_t;

constexpr Bits bit(std::size_t place) { return Bits{1} << place; }

template <class Visit>
void each_bit(Bits bits, Visit visit) {
  for (; bits != 0; bits &= bits - 1) visit(static_cast<std::size_t>(std::countr_zero(bits)));
}

std::int64_t worth(const DeviceInfo& info) { return (info.memory.count() >> 20) * 1000 + info.capability; }

bool linked(const DeviceInfo& a, const DeviceInfo& b) {
  return std::ranges::find(a.links, b.index) != a.links.end();
}

// How well `place` goes with the devices already chosen; the greatest is the best.
auto attraction(const Node& node, std::size_t place, Bits chosen, Bits free, Bits spare) {
  const DeviceInfo& info = node.devices[place].info;
  std::int64_t links = 0;
  std::int64_t near = 0;
  each_bit(chosen, [&](std::size_t other) {
    links += linked(info, node.devices[other].info) ? 1 : 0;
    near += info.numa == node.devices[other].info.numa ? 1 : 0;
  });
  std::int64_t split = 0;  // free neighbours that would lose it
  each_bit(free & ~chosen & ~bit(place), [&](std::size_t other) {
    split += linked(info, node.devices[other].info) || info.numa == node.devices[other].info.numa ? 1 : 0;
  });
  return std::tuple((spare & bit(place)) == 0, -worth(info), links, near, -split, -std::int64_t{info.index});
}

Bits grown_from(const Node& node, Bits chosen, Bits free, std::uint32_t count, Bits spare) {
  while (static_cast<std::uint32_t>(std::popcount(chosen)) < count) {
    std::size_t best = kMaxDevices;
    each_bit(free & ~chosen, [&](std::size_t place) {
      if (best == kMaxDevices ||
          attraction(node, place, chosen, free, spare) > attraction(node, best, chosen, free, spare)) {
        best = place;
      }
    });
    CHECK(best != kMaxDevices);
    chosen |= bit(best);
  }
  return chosen;
}

// Of a whole set: taken from the spare ones, worth, pairs not linked, pairs not near. Lower is better.
auto discord(const Node& node, Bits chosen, Bits spare) {
  std::int64_t value = 0;
  std::int64_t apart = 0;
  std::int64_t far = 0;
  each_bit(chosen, [&](std::size_t a) {
    value += worth(node.devices[a].info);
    each_bit(chosen & ~bit(a), [&](std::size_t b) {
      apart += linked(node.devices[a].info, node.devices[b].info) ? 0 : 1;
      far += node.devices[a].info.numa == node.devices[b].info.numa ? 0 : 1;
    });
  });
  return std::tuple(std::popcount(chosen & spare), value, apart, far);
}

Bits pick_devices(const Node& node, Bits free, std::uint32_t count, Bits spare) {
  if (count == 0) return 0;
  if (static_cast<std::uint32_t>(std::popcount(free)) == count) return free;
  Bits best = grown_from(node, 0, free, count, spare);
  if (count == 1 || std::popcount(free) > 16) return best;
  each_bit(free, [&](std::size_t seed) {
    const Bits set = grown_from(node, bit(seed), free, count, spare);
    if (discord(node, set, spare) < discord(node, best, spare)) best = set;
  });
  return best;
}

// Linux numbers the cores of one socket after another, then their second threads.
std::int32_t socket_of(const Node& node, std::uint32_t cpu) {
  const std::uint32_t cores = node.inventory.cores_per_socket;
  const std::uint32_t all = cores * node.inventory.sockets;
  return all == 0 ? 0 : static_cast<std::int32_t>(cpu % all / cores);
}

CpuSet pick_cpus(const Node& node, const CpuSet& free, std::uint32_t count, std::int32_t numa, const CpuSet* spare) {
  CpuSet chosen;
  for (int wish = numa >= 0 ? 0 : 1; wish < 3 && count > 0; ++wish) {  // near, then not spare, then any
    for (std::uint32_t cpu = 0; cpu < node.inventory.cpus && count > 0; ++cpu) {
      if (!free.contains(cpu) || chosen.contains(cpu)) continue;
      if (wish < 2 && spare != nullptr && spare->contains(cpu)) continue;
      if (wish == 0 && socket_of(node, cpu) != numa) continue;
      chosen.add(cpu);
      --count;
    }
  }
  CHECK(count == 0);
  return chosen;
}

// The CPU whose rest is the smallest that is enough; else the one with the largest rest. 0: nothing is left.
std::pair<std::uint32_t, std::int64_t> best_rest(const std::map<std::uint32_t, Milli>& taken, std::int64_t milli) {
  std::pair<std::uint32_t, std::int64_t> best{0, 0};
  for (const auto& [cpu, held] : taken) {
    const std::int64_t rest = 1000 - held.count();
    const bool enough = rest >= milli;
    const bool best_enough = best.second >= milli;
    if (enough ? !best_enough || rest < best.second : !best_enough && rest > best.second) best = {cpu, rest};
  }
  return best;
}

// Whole CPUs as far as there are any, so that whoever asks for many has them to himself. What remains fills up
// those that are shared already before another one is, so that others stay whole.
void pick_parts(NodeShare& share, const Node& node, const Room& room, std::int64_t milli, std::int32_t numa,
                const Room* spare) {
  const auto more = [&](std::uint32_t count) {
    CpuSet free = room.cpus;
    free -= share.cpus;
    return pick_cpus(node, free, count, numa, spare == nullptr ? nullptr : &spare->cpus);
  };
  const auto whole = std::min<std::int64_t>(milli / 1000, room.cpu_count - share.cpus.count());
  share.cpus |= more(static_cast<std::uint32_t>(whole));
  milli -= whole * 1000;
  if (milli == 0) return;
  auto taken = room.parts;
  if (rest_of_parts(room).count() < milli) {  // then a whole one is left, and enough by itself
    share.parts.push_back({.cpu = more(1).list().front(), .milli = Milli::of(milli)});
    return;
  }
  while (milli > 0) {
    const auto [cpu, rest] = best_rest(taken, milli);
    CHECK(rest > 0);
    share.parts.push_back({.cpu = cpu, .milli = Milli::of(std::min(rest, milli))});
    milli -= std::min(rest, milli);
    taken.erase(cpu);
  }
  std::ranges::sort(share.parts, {}, &CpuPart::cpu);
}

}  // namespace

NodeShare pick_share(const Need& need, const Match& match, const Node& node, const Room& room, std::uint32_t units,
                     std::uint32_t tasks, const Room* spare) {
  // What the units were found to fit by, even where rounding leaves the node a task less: else a
  // reservation would hold less than the test of whether it still fits asks for.
  const Cost cost = cost_of(need, node, units);
  NodeShare share{.node = node.id, .tasks = tasks, .memory = cost.memory};
  Bits chosen = 0;
  for (std::size_t i = 0; i < need.asks.size(); ++i) {
    const Bits free = match.devices[i] & room.devices & ~chosen;
    chosen |= pick_devices(node, free, cost.gpus[i], spare == nullptr ? 0 : spare->devices);
  }
  std::int32_t numa = -1;
  each_bit(chosen, [&](std::size_t place) {
    if (numa < 0) numa = node.devices[place].info.numa;
  });
  if (need.request.exclusive) {
    chosen = room.devices;
    share.cpus = room.cpus;
    if (need.request.memory_rule == MemoryRule::per_cpu) {
      share.memory = std::min(room.memory, need.request.memory * room.cpu_count);
    }
  } else {
    share.cpus = pick_cpus(node, room.cpus, cost.cpus, numa, spare == nullptr ? nullptr : &spare->cpus);
    pick_parts(share, node, room, cost.cpu_milli, numa, spare);
  }
  each_bit(chosen, [&](std::size_t place) { share.devices.push_back({.device = node.devices[place].id}); });
  std::ranges::sort(share.devices, {}, [&](const Grant& grant) {
    return std::ranges::find(node.devices, grant.device, &Device::id)->info.index;
  });
  return share;
}

}  // namespace drover::policy
