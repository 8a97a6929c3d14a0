#include "policy/fit.h"

#include <algorithm>
#include <bit>

#include "base/text.h"
#include "domain/node_labels.h"
#include "domain/pod_terms.h"

namespace drover::policy {
namespace {

bool named(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

// CPUs of the node for each CPU asked: with fewer threads a core than it has, the others stay idle.
std::uint32_t threads_factor(const Need& need, const Node& node) {
  const std::uint32_t asked = need.request.threads_per_core;
  const std::uint32_t has = std::max(1U, node.inventory.threads_per_core);
  return asked == 0 || asked >= has ? 1 : has / asked;
}

// A node without the label of a topology is in none of its domains: nothing is near it, nothing spreads to it.
const std::string* missing_key(const Request& request, const Node& node) {
  for (const PodTerm& term : request.near) {
    if (!label_of(node, term.key)) return &term.key;
  }
  for (const SpreadTerm& term : request.spread) {
    if (!label_of(node, term.key)) return &term.key;
  }
  return nullptr;
}

std::uint32_t ways_of(const Need& need, const Node& node) {
  std::uint32_t ways = 0;
  for (std::size_t way = 0; way < need.features.ways(); ++way) {
    if (need.features.holds(node.inventory.features, way)) ways |= 1U << way;
  }
  return ways;
}

bool gpu_matches(const Need& need, const Ask& ask, const DeviceInfo& device) {
  return device.kind == "gpu" && (ask.model.empty() || iequals(ask.model, device.model)) &&
         need.condition.holds(device);
}

// Asks with a model have devices of their own; those for any model take what is left.
bool gpus_fit(const Need& need, const Match& match, std::uint64_t free, const Cost& cost) {
  std::uint32_t with_model = 0;
  for (std::size_t i = 0; i < need.asks.size(); ++i) {
    const auto have = static_cast<std::uint32_t>(std::popcount(match.devices[i] & free));
    const std::uint32_t before = need.asks[i].model.empty() ? with_model : 0;
    if (have < cost.gpus[i] + before) return false;
    with_model += cost.gpus[i];
  }
  return true;
}

// Parts come from what is left of CPUs that others share, and from whole ones that nobody has.
bool cpus_fit(const Cost& cost, const Room& room) {
  if (cost.cpus > room.cpu_count) return false;
  if (cost.cpu_milli == 0) return true;
  return std::int64_t{cost.cpu_milli} <= std::int64_t{room.cpu_count - cost.cpus} * 1000 + rest_of_parts(room).count();
}

bool fits(const Need& need, const Match& match, const Node& node, const Room& room, std::uint32_t units) {
  const Cost cost = cost_of(need, node, units);
  if (need.task_cap > 0 && cost.tasks > need.task_cap) return false;
  return cpus_fit(cost, room) && cost.memory <= room.memory && gpus_fit(need, match, room.devices, cost);
}

Cost least_cost(const Need& need, const Node& node) {
  return cost_of(need, node, need.least_units());
}

Refusal refused(RefusalCode code, std::string subject, const char* what, std::int64_t have, std::int64_t want) {
  return {.code = code, .subject = std::move(subject), .amounts = {{.name = what, .have = have, .want = want}}};
}

// ---- the rows ----

std::optional<Refusal> is_open(const Need&, const Node& node, const Room& room) {
  if (room.open) return std::nullopt;
  return Refusal{.code = RefusalCode::node_closed,
                 .subject = node.contact == Contact::lost ? "lost" : node.drain ? node.drain->reason : ""};
}
std::optional<Refusal> not_excluded(const Need& need, const Node& node, const Room&) {
  if (!named(need.request.exclude_nodes, node.name())) return std::nullopt;
  return Refusal{.code = RefusalCode::node_excluded, .subject = node.name()};
}
std::optional<Refusal> has_features(const Need& need, const Node& node, const Room&) {
  if (ways_of(need, node) != 0) return std::nullopt;
  return Refusal{.code = RefusalCode::no_such_feature, .subject = need.request.features};
}
std::optional<Refusal> has_labels(const Need& need, const Node& node, const Room&) {
  const LabelTerm* failed = label_against(need.request, node);
  if (failed == nullptr) return std::nullopt;
  Refusal refusal{.code = RefusalCode::no_such_label, .subject = text_of(*failed)};
  const auto labels = labels_of(node);
  const auto found = labels.find(failed->key);
  const auto have = found == labels.end() ? std::nullopt : parse_int(found->second);
  const auto want = failed->op == LabelOp::greater ? parse_int(failed->values.front()) : std::nullopt;
  if (have && want) refusal.amounts = {{.name = failed->key, .have = *have, .want = *want}};
  return refusal;
}
std::optional<Refusal> has_topology(const Need& need, const Node& node, const Room&) {
  const std::string* key = missing_key(need.request, node);
  if (key == nullptr) return std::nullopt;
  return Refusal{.code = RefusalCode::no_such_label, .subject = *key};
}
std::optional<Refusal> is_tolerated(const Need& need, const Node& node, const Room&) {
  const Taint* taint = taint_against(need.request, node);
  if (taint == nullptr) return std::nullopt;
  return Refusal{.code = RefusalCode::node_tainted,
                 .subject = taint->key + (taint->value.empty() ? "" : "=" + taint->value)};
}
std::optional<Refusal> has_disk(const Need& need, const Node& node, const Room&) {
  if (node.inventory.disk >= need.request.disk) return std::nullopt;
  return refused(RefusalCode::too_little_disk, "disk", "disk_mib", node.inventory.disk.count() >> 20,
                 need.request.disk.count() >> 20);
}
std::optional<Refusal> has_threads(const Need& need, const Node& node, const Room&) {
  if (need.request.threads_per_core <= std::max(1U, node.inventory.threads_per_core)) return std::nullopt;
  return refused(RefusalCode::no_node_fits, "threads_per_core", "threads_per_core", node.inventory.threads_per_core,
                 need.request.threads_per_core);
}
std::optional<Refusal> has_gpus(const Need& need, const Node& node, const Room& room) {
  const Match match = match_of(need, node);
  const Cost cost = least_cost(need, node);
  for (std::size_t i = 0; i < need.asks.size(); ++i) {
    const auto all = std::popcount(match.devices[i]);
    const auto free = std::popcount(match.devices[i] & room.devices);
    const std::string what = need.asks[i].model.empty() ? need.request.gpu_condition : need.asks[i].model;
    if (all == 0 && cost.gpus[i] > 0) return refused(RefusalCode::no_such_gpu, what, "gpus", 0, cost.gpus[i]);
    if (static_cast<std::uint32_t>(all) < cost.gpus[i]) {
      return refused(RefusalCode::too_many_gpus, what, "gpus", all, cost.gpus[i]);
    }
    if (static_cast<std::uint32_t>(free) < cost.gpus[i]) {
      return refused(RefusalCode::gpus_busy, what, "gpus", free, cost.gpus[i]);
    }
  }
  if (gpus_fit(need, match, room.devices, cost)) return std::nullopt;
  return refused(RefusalCode::gpus_busy, "", "gpus", std::popcount(room.devices), cost.gpus[0]);
}
std::optional<Refusal> has_cpus(const Need& need, const Node& node, const Room& room) {
  const Cost cost = least_cost(need, node);
  if (cpus_fit(cost, room)) return std::nullopt;
  if (cost.cpu_milli > 0) {
    const std::int64_t want = std::int64_t{cost.cpus} * 1000 + cost.cpu_milli;
    const std::int64_t all = std::int64_t{node.inventory.cpus} * 1000;
    const std::int64_t free = std::int64_t{room.cpu_count} * 1000 + rest_of_parts(room).count();
    return refused(want <= all ? RefusalCode::cpus_busy : RefusalCode::too_many_cpus, "cpus", "cpu_milli",
                   want <= all ? free : all, want);
  }
  const bool ever = cost.cpus <= node.inventory.cpus;
  return refused(ever ? RefusalCode::cpus_busy : RefusalCode::too_many_cpus, "cpus", "cpus",
                 ever ? room.cpu_count : node.inventory.cpus, cost.cpus);
}
std::optional<Refusal> has_memory(const Need& need, const Node& node, const Room& room) {
  const Cost cost = least_cost(need, node);
  if (cost.memory <= room.memory) return std::nullopt;
  const bool ever = cost.memory <= node.inventory.memory;
  return refused(ever ? RefusalCode::memory_busy : RefusalCode::too_much_memory, "memory", "memory_mib",
                 (ever ? room.memory : node.inventory.memory).count() >> 20, cost.memory.count() >> 20);
}
std::optional<Refusal> is_shared(const Need& need, const Node&, const Room& room) {
  if (room.exclusive) return Refusal{.code = RefusalCode::node_taken, .subject = "exclusive"};
  if (!need.request.exclusive || room.jobs == 0) return std::nullopt;
  return refused(RefusalCode::node_taken, "exclusive", "jobs", room.jobs, 0);
}

using Row = std::optional<Refusal> (*)(const Need&, const Node&, const Room&);
constexpr Row kRows[] = {not_excluded, has_features, has_labels, has_topology, has_disk, has_threads,
                         is_open,      is_tolerated, has_gpus,   is_shared,    has_cpus, has_memory};

}  // namespace

Match match_of(const Need& need, const Node& node) {
  Match match;
  match.ways = ways_of(need, node);
  match.ok = match.ways != 0 && !named(need.request.exclude_nodes, node.name()) &&
             node.inventory.disk >= need.request.disk && labels_hold(need.request, node) &&
             missing_key(need.request, node) == nullptr &&
             need.request.threads_per_core <= std::max(1U, node.inventory.threads_per_core);
  match.tolerated = taint_against(need.request, node) == nullptr;
  for (std::size_t i = 0; i < need.asks.size(); ++i) {
    for (std::size_t d = 0; d < node.devices.size() && d < kMaxDevices; ++d) {
      if (gpu_matches(need, need.asks[i], node.devices[d].info)) match.devices[i] |= std::uint64_t{1} << d;
    }
  }
  return match;
}

Cost cost_of(const Need& need, const Node& node, std::uint32_t units) {
  const Request& r = need.request;
  Cost cost{.tasks = need.tasks_of(units)};
  std::uint32_t gpus = 0;
  for (std::size_t i = 0; i < need.asks.size(); ++i) {
    cost.gpus[i] = need.gpus_total > 0 ? units : need.asks[i].per_node + cost.tasks * need.asks[i].per_task;
    gpus += cost.gpus[i];
  }
  const std::uint32_t factor = threads_factor(need, node);
  cost.cpus = r.overcommit ? 1 : cost.tasks * r.cpus_per_task * factor;
  cost.cpus = std::max(cost.cpus, gpus * r.cpus_per_gpu * factor);
  cost.cpu_milli = r.cpu_milli;
  const Bytes all = node.inventory.memory;
  switch (r.memory_rule) {
    case MemoryRule::proportional:
      if (r.exclusive) {
        cost.memory = all;
      } else if (cost.cpus >= node.inventory.cpus) {
        cost.memory = cost.cpus > node.inventory.cpus ? all + Bytes::of(1) : all;
      } else {
        cost.memory = Bytes::of(all.count() / node.inventory.cpus * cost.cpus);
      }
      break;
    case MemoryRule::per_node: cost.memory = r.memory; break;
    case MemoryRule::per_cpu: cost.memory = r.memory * cost.cpus; break;
    case MemoryRule::per_gpu: cost.memory = r.memory * gpus; break;
    case MemoryRule::whole_node: cost.memory = all; break;
  }
  return cost;
}

std::uint32_t units_in(const Need& need, const Match& match, const Node& node, const Room& room, std::uint32_t most) {
  if (!match.ok || !match.tolerated || !room.open || room.exclusive) return 0;
  if (need.request.exclusive && room.jobs > 0) return 0;
  std::uint32_t low = need.least_units();
  if (most < low || !fits(need, match, node, room, low)) return 0;
  std::uint32_t high = most;
  if (high > low && fits(need, match, node, room, high)) return high;
  while (low + 1 < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    (fits(need, match, node, room, middle) ? low : high) = middle;
  }
  return low;
}

std::optional<Refusal> refusal_of(const Need& need, const Node& node, const Room& room) {
  for (const Row row : kRows) {
    if (auto refusal = row(need, node, room)) return refusal;
  }
  return std::nullopt;
}

std::uint64_t rank_of(const Need& need, const Match& match, const Node& node, const Room& room) {
  std::uint64_t value = 0;  // of the GPUs that would be used, or kept from others
  if (need.wants_gpus()) {
    std::uint64_t usable = 0;
    for (const std::uint64_t devices : match.devices) usable |= devices;
    usable &= room.devices;
    for (std::uint64_t left = usable; left != 0; left &= left - 1) {
      const DeviceInfo& info = node.devices[static_cast<std::size_t>(std::countr_zero(left))].info;
      value = std::max(value, static_cast<std::uint64_t>(info.memory.count() >> 30) * 256 + info.capability);
    }
  } else {
    for (const Device& device : node.devices) {
      if (device.info.healthy && device.info.kind == "gpu") value = 1;
    }
  }
  const auto gpus = static_cast<std::uint64_t>(std::popcount(room.devices));
  return std::min<std::uint64_t>(value, 0xFFFFFF) << 40 | gpus << 32 | room.cpu_count;
}

}  // namespace drover::policy
