#include "engine/explain.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "domain/pod_terms.h"
#include "engine/demand.h"
#include "engine/standing.h"
#include "engine/vicinity.h"
#include "policy/fit.h"
#include "policy/order.h"

namespace drover::engine {
namespace {

constexpr std::size_t kMostAhead = 100;
constexpr std::size_t kMostNames = 8;

policy::OrderKey key_of(const Job& job, const Standing& standing) {
  return {.tier = standing.tier, .priority = job.priority, .eligible = job.eligible, .job = job.id};
}

std::map<JobId, std::uint32_t> active_tasks(const Cluster& cluster) {
  std::map<JobId, std::uint32_t> active;
  cluster.jobs().each([&](const Job& job) {
    if (job.array && job.active()) ++active[job.array];
  });
  return active;
}

void list_ahead(const Cluster& cluster, const Job& job, Explanation& e) {
  auto active = active_tasks(cluster);
  const policy::OrderKey own = key_of(job, standing_of(cluster, job, active[job.array]));
  std::vector<policy::OrderKey> ahead;
  cluster.jobs().each([&](const Job& other) {
    if (other.phase != Phase::waiting) return;
    const Standing standing = standing_of(cluster, other, active[other.array]);
    if (standing.queued && key_of(other, standing) < own) ahead.push_back(key_of(other, standing));
  });
  e.ahead_count = static_cast<std::uint32_t>(ahead.size());
  std::ranges::sort(ahead);
  for (std::size_t i = 0; i < ahead.size() && i < kMostAhead; ++i) e.ahead.push_back(ahead[i].job);
}

void add(std::map<std::pair<RefusalCode, std::string>, Obstacle>& obstacles, const Refusal& refusal,
         const std::string& node) {
  Obstacle& o = obstacles[{refusal.code, refusal.subject}];
  // Of the node that comes nearest: the one with most, but with the fewest pods in the way or the least skew.
  const auto have = [](const Refusal& r) {
    const bool less = r.code == RefusalCode::not_apart || r.code == RefusalCode::kept_apart ||
                      r.code == RefusalCode::not_spread;
    return r.amounts.empty() ? 0 : r.amounts.front().have * (less ? -1 : 1);
  };
  if (o.nodes == 0 || have(refusal) > have(o.refusal)) o.refusal = refusal;
  if (o.names.size() < kMostNames) o.names.push_back(node);
  ++o.nodes;
}

}  // namespace

Obstacles obstacles_of(const Cluster& cluster, const Job& job) {
  Obstacles all;
  const policy::Need need = policy::need_of(cluster.request(job));
  std::set<NodeId> nodes;
  for (const std::string_view name : partition_names(cluster, job.partitions)) {
    const Partition* partition = cluster.partition(name);
    if (partition == nullptr) continue;
    const auto members = nodes_of(cluster, *partition);
    nodes.insert(members.begin(), members.end());
  }
  std::vector<std::uint32_t> met = meant_by(cluster, job);
  std::optional<Vicinity> around;
  if (Vicinity::needed(need.request, met)) {
    around.emplace(cluster, std::vector<NodeId>(nodes.begin(), nodes.end()), need.request, std::move(met));
    around->see_all(cluster);
    around->settle();
  }
  std::map<std::pair<RefusalCode, std::string>, Obstacle> obstacles;
  for (const NodeId node_id : nodes) {
    const Node& node = cluster.node(node_id);
    if (job.run->avoid && std::ranges::binary_search(*job.run->avoid, node_id)) {
      add(obstacles, {.code = RefusalCode::node_excluded, .subject = "a launch failed there"}, node.name());
    } else if (const auto refusal = policy::refusal_of(need, node, policy::room_of(node))) {
      add(obstacles, *refusal, node.name());
    } else if (const auto others = around ? around->refusal(node_id) : std::nullopt) {
      add(obstacles, *others, node.name());
    } else {
      ++all.fitting;
    }
  }
  all.nodes = static_cast<std::uint32_t>(nodes.size());
  for (auto& [key, obstacle] : obstacles) all.list.push_back(std::move(obstacle));
  std::ranges::stable_sort(all.list, std::greater{}, &Obstacle::nodes);
  return all;
}

Explanation explain(const Cluster& cluster, JobId id, Instant) {
  Explanation e;
  const Job* job = cluster.job(id);
  if (job == nullptr) return e;
  e.reason = job->reason;
  if (job->phase != Phase::waiting) return e;
  Obstacles all = obstacles_of(cluster, *job);
  e.nodes = all.nodes;
  e.fitting = all.fitting;
  e.obstacles = std::move(all.list);
  list_ahead(cluster, *job, e);
  const auto reservation = cluster.reservations().find(id);
  if (reservation != cluster.reservations().end()) {
    e.start = reservation->second.start;
    for (const NodeShare& share : reservation->second.placement.shares) {
      e.reserved_nodes.push_back(cluster.node(share.node).name());
    }
  }
  return e;
}

}  // namespace drover::engine
