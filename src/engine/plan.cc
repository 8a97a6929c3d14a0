#include "engine/plan.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/name_order.h"
#include "domain/pod_terms.h"
#include "domain/steps.h"
#include "engine/demand.h"
#include "engine/vicinity.h"
#include "policy/room.h"

namespace drover::engine {
namespace {

// What jobs' terms about pods, and those of pods about them, say of the nodes as they are now, asked of the cluster
// alone. Starts of one kind are many, so what is counted for one serves the next.
class Terms {
 public:
  bool hold(const Cluster& cluster, const Job& job, const Start& start) {
    if (cluster.selectors().size() == 0) return true;
    const Request& request = cluster.request(job);
    std::vector<std::uint32_t> met = meant_by(cluster, job);
    if (!Vicinity::needed(request, met)) return true;
    const Partition* partition = cluster.partition(start.partition);
    if (partition == nullptr) return false;
    const auto [kept, fresh] = kept_.try_emplace(std::tuple(job.shape, start.partition, met), cluster,
                                                 nodes_of(cluster, *partition), request, met);
    if (fresh) kept->second.see_all(cluster);
    return lets_in(kept->second, start.placement);
  }
  void placed(const Cluster& cluster, const Placement& placement) {
    for (auto& [key, around] : kept_) {
      for (const NodeShare& share : placement.shares) around.see(cluster, share.node, {}, 1);
    }
  }

 private:
  // Each member sees those before it, in any order that lets all of them in.
  static bool lets_in(Vicinity& known, const Placement& placement) {
    known.settle();
    if (placement.shares.size() == 1) return known.lets(placement.shares.front().node);
    Vicinity around = known;
    std::vector<NodeId> left;
    for (const NodeShare& share : placement.shares) left.push_back(share.node);
    while (!left.empty()) {
      around.settle();
      const auto next = std::ranges::find_if(left, [&](NodeId node) { return around.lets(node); });
      if (next == left.end()) return false;
      around.add(*next);
      left.erase(next);
    }
    return true;
  }

  std::map<std::tuple<ShapeId, std::string, std::vector<std::uint32_t>>, Vicinity> kept_;
};

bool holds(const Cluster& cluster, const Start& start, Terms& terms) {
  const Job* job = cluster.job(start.job);
  if (job == nullptr || job->phase != Phase::waiting || job->hold != Hold::none || job->dependency) return false;
  if (start.task == kNoTask ? job->is_array() : !job->is_array() || !job->pending->contains(start.task)) return false;
  for (const NodeShare& share : start.placement.shares) {
    if (share.node.value() > cluster.nodes().size()) return false;
    const Node& node = cluster.node(share.node);
    if (!policy::covers(policy::room_of(node), node, share, start.placement.exclusive)) return false;
  }
  return !start.placement.shares.empty() && terms.hold(cluster, *job, start);
}

// The first node runs the script and rank 0: it is the first that people read in the list of nodes,
// whatever the order in which the nodes once registered.
Placement in_order_of_names(const Cluster& cluster, Placement placement) {
  std::ranges::sort(placement.shares, [&](const NodeShare& a, const NodeShare& b) {
    return name_less(cluster.node(a.node).name(), cluster.node(b.node).name());
  });
  return placement;
}

void place(Facts& facts, const Start& start, Instant now) {
  JobId id = start.job;
  if (start.task != kNoTask) {
    const bool last = facts.cluster().job(id)->pending->count() == 1;
    if (!last) id = facts.cluster().next_job();
    facts.add(ArrayTaskSplit{.array = start.job, .task = start.task, .job = id});
  }
  facts.add(JobPlaced{.job = id,
                      .attempt = facts.cluster().job(id)->run->attempt + 1,
                      .partition = start.partition,
                      .placement = in_order_of_names(facts.cluster(), start.placement),
                      .limit = start.limit,
                      .at = now});
  begin_allocation(facts, id, now);
}

void settle_reservations(Facts& facts, const std::optional<Reserve>& wanted) {
  std::vector<JobId> dropped;
  for (const auto& [job, reservation] : facts.cluster().reservations()) {
    if (!wanted || wanted->job != job) dropped.push_back(job);
  }
  for (const JobId job : dropped) facts.add(JobReserved{.job = job});
  if (!wanted) return;
  const auto found = facts.cluster().reservations().find(wanted->job);
  if (found != facts.cluster().reservations().end() && found->second.start == wanted->start &&
      found->second.placement == wanted->placement &&
      facts.cluster().text(found->second.partition) == wanted->partition) {
    return;
  }
  facts.add(JobReserved{.job = wanted->job, .start = wanted->start, .placement = wanted->placement,
                        .partition = wanted->partition});
}

}  // namespace

std::size_t commit(Facts& facts, const Plan& plan, Instant now) {
  std::size_t kept = 0;
  Terms terms;
  for (const Start& start : plan.starts) {
    if (!holds(facts.cluster(), start, terms)) continue;
    place(facts, start, now);
    terms.placed(facts.cluster(), start.placement);
    ++kept;
  }
  if (plan.complete) settle_reservations(facts, plan.reserve);
  return kept;
}

}  // namespace drover::engine
