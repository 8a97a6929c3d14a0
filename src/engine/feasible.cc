#include "engine/feasible.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "base/proto.h"
#include "base/text.h"
#include "engine/demand.h"
#include "policy/fit.h"

namespace drover::engine {
namespace {

using policy::Match;
using policy::Need;

constexpr std::size_t kMostKnown = 4096;

struct View {
  const Cluster& cluster;
  const Partition& partition;
  std::vector<const Node*> nodes;  // of the partition, that have registered
  std::size_t unknown = 0;         // named by the partition, never seen
};

View view_of(const Cluster& cluster, const Partition& partition) {
  View view{.cluster = cluster, .partition = partition, .nodes = {}};
  for (const NodeId id : nodes_of(cluster, partition)) view.nodes.push_back(&cluster.node(id));
  for (const std::string& name : partition.nodes) view.unknown += cluster.node(name) == nullptr ? 1U : 0U;
  return view;
}

bool could(const View& view, const Request& request) {
  if (!std::holds_alternative<Need>(policy::make_need(request))) return false;
  Demand demand(view.cluster, view.partition, request, {});
  Rooms rooms;
  rooms.rebuild(view.cluster);
  return demand.could_start(view.cluster, rooms, false);
}

Refusal refused(RefusalCode code, std::string subject, const char* what, std::int64_t have, std::int64_t want,
                std::string nearest) {
  return {.code = code, .subject = std::move(subject), .amounts = {{.name = what, .have = have, .want = want}},
          .nearest = std::move(nearest)};
}

std::optional<Refusal> check_names(const View& view, const Request& request) {
  const auto in_partition = [&](const std::string& name) {
    return std::ranges::find(view.partition.nodes, name) != view.partition.nodes.end() ||
           std::ranges::any_of(view.nodes, [&](const Node* node) { return node->name() == name; });
  };
  for (const auto* names : {&request.include_nodes, &request.exclude_nodes}) {
    for (const std::string& name : *names) {
      if (in_partition(name) || view.cluster.node(name) != nullptr) continue;
      return Refusal{.code = RefusalCode::unknown_node, .subject = printable(name)};
    }
  }
  for (const std::string& name : request.include_nodes) {
    if (!in_partition(name)) {
      return Refusal{.code = RefusalCode::no_node_fits,
                     .subject = name + " is not in partition " + view.partition.name};
    }
  }
  return std::nullopt;
}

std::string gpus_per_node(std::int64_t count, const std::string& model) {
  return std::to_string(count) + " x " + (model.empty() ? "gpu" : model) + " per node";
}

// The models in the partition with how many one node has at most.
std::map<std::string, std::int64_t> models_of(const View& view) {
  std::map<std::string, std::int64_t> models;
  for (const Node* node : view.nodes) {
    std::map<std::string, std::int64_t> here;
    for (const Device& device : node->devices) {
      if (device.info.kind == "gpu" && device.info.healthy) ++here[device.info.model];
    }
    for (const auto& [model, count] : here) models[model] = std::max(models[model], count);
  }
  return models;
}

Refusal no_such_gpu(const View& view, const Need& need, const policy::Ask& ask, std::uint32_t want) {
  const auto models = models_of(view);
  std::int64_t memory = 0;
  std::string nearest;
  bool known = false;  // the model is there, only the condition fails
  for (const Node* node : view.nodes) {
    for (const Device& device : node->devices) {
      if (device.info.kind != "gpu" || !device.info.healthy) continue;
      known = known || (!ask.model.empty() && iequals(ask.model, device.info.model));
      memory = std::max(memory, device.info.memory.count() >> 20);
    }
  }
  for (const auto& [model, count] : models) {
    if (known && !iequals(model, ask.model)) continue;
    if (!nearest.empty()) nearest += " or ";
    nearest += gpus_per_node(std::min<std::int64_t>(count, want), model);
  }
  const std::string subject = known || ask.model.empty() ? need.request.gpu_condition : ask.model;
  Refusal refusal = refused(RefusalCode::no_such_gpu, subject, "gpus", 0, want, nearest);
  if (refusal.subject.empty()) refusal.subject = "gpu";
  if (!need.request.gpu_condition.empty()) refusal.amounts.push_back({.name = "gpu_memory_mib", .have = memory});
  return refusal;
}

std::optional<Refusal> check_gpus(const View& view, const Need& need) {
  for (std::size_t i = 0; i < need.asks.size(); ++i) {
    std::int64_t best = 0;
    std::int64_t all = 0;
    for (const Node* node : view.nodes) {
      const Match match = policy::match_of(need, *node);
      const std::int64_t here = std::popcount(match.devices[i] & policy::idle_room_of(*node).devices);
      best = std::max(best, match.ok ? here : 0);
      all += match.ok ? here : 0;
    }
    const policy::Ask& ask = need.asks[i];
    const std::uint32_t tasks = need.tasks > 0 ? 1 : need.tasks_each;
    const std::uint32_t want = need.gpus_total > 0 ? need.gpus_total : ask.per_node + tasks * ask.per_task;
    if (all == 0 && want > 0) return no_such_gpu(view, need, ask, want);
    if (need.gpus_total > 0 && all < need.gpus_total) {
      return refused(RefusalCode::too_many_gpus, ask.model, "gpus", all, want,
                     std::to_string(all) + " x " + (ask.model.empty() ? "gpu" : ask.model) + " in all");
    }
    if (need.gpus_total == 0 && best < want) {
      return refused(RefusalCode::too_many_gpus, ask.model, "gpus", best, want, gpus_per_node(best, ask.model));
    }
  }
  return std::nullopt;
}

std::optional<Refusal> check_amounts(const View& view, const Need& need) {
  std::int64_t cpus = 0;
  std::int64_t memory = 0;
  std::int64_t disk = 0;
  policy::Cost least;
  for (const Node* node : view.nodes) {
    if (!policy::match_of(need, *node).ok && node->inventory.disk >= need.request.disk) continue;
    const policy::Cost cost = policy::cost_of(need, *node, need.least_units());
    least.cpus = std::max(least.cpus, cost.cpus + (cost.cpu_milli + 999) / 1000);
    if (least.memory == Bytes{} || cost.memory < least.memory) least.memory = cost.memory;
    cpus = std::max<std::int64_t>(cpus, node->inventory.cpus);
    memory = std::max(memory, node->inventory.memory.count() >> 20);
    disk = std::max(disk, node->inventory.disk.count() >> 20);
  }
  if (disk < need.request.disk.count() >> 20) {
    return refused(RefusalCode::too_little_disk, "disk", "disk_mib", disk, need.request.disk.count() >> 20,
                   std::to_string(disk) + " MiB of disk per node");
  }
  if (least.cpus > cpus) {
    return refused(RefusalCode::too_many_cpus, "cpus", "cpus", cpus, least.cpus,
                   std::to_string(cpus) + " CPUs per node");
  }
  const std::int64_t want = (least.memory.count() + (1 << 20) - 1) >> 20;
  if (want > memory) {
    return refused(RefusalCode::too_much_memory, "memory", "memory_mib", memory, want,
                   std::to_string(memory) + " MiB per node");
  }
  return std::nullopt;
}

// The greatest amount below `want` with which the request would fit, 0 when none.
template <class Set>
std::uint32_t greatest(const View& view, const Request& request, std::uint32_t want, Set set) {
  std::uint32_t low = 0;
  std::uint32_t high = want;
  while (low + 1 < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    Request smaller = request;
    set(smaller, middle);
    (could(view, smaller) ? low : high) = middle;
  }
  return low;
}

// Each part by itself could be had, but not together.
Refusal nothing_fits(const View& view, const Need& need) {
  const Request& r = need.request;
  if (need.min_nodes > 1) {
    const auto nodes = greatest(view, r, need.min_nodes, [](Request& s, std::uint32_t n) {
      s.min_nodes = n;
      s.max_nodes = n;
      s.tasks = 0;
    });
    if (nodes > 0) {
      return refused(RefusalCode::too_many_nodes, "nodes", "nodes", nodes, need.min_nodes,
                     std::to_string(nodes) + " nodes");
    }
  }
  if (r.tasks > 1) {
    const auto tasks = greatest(view, r, r.tasks, [](Request& s, std::uint32_t n) { s.tasks = n; });
    if (tasks > 0) {
      return refused(RefusalCode::no_node_fits, "tasks", "tasks", tasks, r.tasks, std::to_string(tasks) + " tasks");
    }
  }
  if (r.gpus_per_node.size() == 1 && r.gpus_per_node[0].count > 1) {
    const auto gpus = greatest(view, r, r.gpus_per_node[0].count,
                               [](Request& s, std::uint32_t n) { s.gpus_per_node[0].count = n; });
    if (gpus > 0) {
      return refused(RefusalCode::no_node_fits, r.gpus_per_node[0].model, "gpus", gpus, r.gpus_per_node[0].count,
                     gpus_per_node(gpus, r.gpus_per_node[0].model));
    }
  }
  const auto cpus = greatest(view, r, r.cpus_per_task, [](Request& s, std::uint32_t n) { s.cpus_per_task = n; });
  if (cpus > 0) {
    return refused(RefusalCode::no_node_fits, "cpus", "cpus", cpus, r.cpus_per_task,
                   std::to_string(cpus) + " CPUs per task");
  }
  return {.code = RefusalCode::no_node_fits};
}

}  // namespace

std::optional<Refusal> why_never(const Cluster& cluster, const Partition& partition, const Request& request) {
  auto made = policy::make_need(request);
  if (auto* refusal = std::get_if<Refusal>(&made)) return std::move(*refusal);
  const Need& need = *std::get_if<Need>(&made);
  const View view = view_of(cluster, partition);
  if (auto refusal = check_names(view, request)) return refusal;
  if (view.nodes.empty() && view.unknown == 0 && partition.nodes.empty()) return std::nullopt;  // none has come yet
  const std::size_t all = view.nodes.size() + view.unknown;
  if (need.min_nodes > all) {
    return refused(RefusalCode::too_many_nodes, "nodes", "nodes", static_cast<std::int64_t>(all), need.min_nodes,
                   std::to_string(all) + (all == 1 ? " node" : " nodes"));
  }
  if (could(view, request) || view.unknown > 0) return std::nullopt;
  const auto has_features = [&](const Node* node) { return policy::match_of(need, *node).ways != 0; };
  if (std::ranges::none_of(view.nodes, has_features)) {
    return Refusal{.code = RefusalCode::no_such_feature, .subject = request.features};
  }
  if (auto refusal = check_gpus(view, need)) return refusal;
  if (auto refusal = check_amounts(view, need)) return refusal;
  return nothing_fits(view, need);
}

std::optional<Refusal> Feasibility::ask(const Cluster& cluster, const Partition& partition, const Request& request) {
  const std::pair key(partition.name, encode(request));
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  if (known_.size() >= kMostKnown) known_.clear();
  return known_.emplace(key, why_never(cluster, partition, request)).first->second;
}

}  // namespace drover::engine
