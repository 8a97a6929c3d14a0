#include "engine/plan.h"

#include <algorithm>

#include "base/name_order.h"
#include "domain/steps.h"
#include "policy/room.h"

namespace drover::engine {
namespace {

bool holds(const Cluster& cluster, const Start& start) {
  const Job* job = cluster.job(start.job);
  if (job == nullptr || job->phase != Phase::waiting || job->hold != Hold::none || job->dependency) return false;
  if (start.task == kNoTask ? job->is_array() : !job->is_array() || !job->pending->contains(start.task)) return false;
  for (const NodeShare& share : start.placement.shares) {
    if (share.node.value() > cluster.nodes().size()) return false;
    const Node& node = cluster.node(share.node);
    if (!policy::covers(policy::room_of(node), node, share, start.placement.exclusive)) return false;
  }
  return !start.placement.shares.empty();
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
  for (const Start& start : plan.starts) {
    if (!holds(facts.cluster(), start)) continue;
    place(facts, start, now);
    ++kept;
  }
  if (plan.complete) settle_reservations(facts, plan.reserve);
  return kept;
}

}  // namespace drover::engine
