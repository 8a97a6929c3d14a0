#include "domain/select.h"

#include <algorithm>
#include <set>

namespace drover {
namespace {

bool holds(const std::vector<std::string>& wanted, const std::string& text) {
  return wanted.empty() || std::ranges::find(wanted, text) != wanted.end();
}

// One of the partitions that the job asked for, or the one where it is.
bool in_partitions(const Cluster& cluster, const Job& job, const std::vector<std::string>& wanted) {
  if (wanted.empty()) return true;
  if (job.phase != Phase::waiting) return holds(wanted, cluster.text(job.partition));
  const std::string& asked = cluster.text(job.partitions);
  for (std::size_t begin = 0; begin <= asked.size();) {
    const std::size_t end = std::min(asked.find(',', begin), asked.size());
    if (holds(wanted, asked.substr(begin, end - begin))) return true;
    begin = end + 1;
  }
  return false;
}

bool on_nodes(const Cluster& cluster, const Job& job, const std::vector<std::string>& wanted) {
  if (wanted.empty()) return true;
  if (!job.active() || !job.run->placement) return false;
  return std::ranges::any_of(job.run->placement->shares,
                             [&](const NodeShare& share) { return holds(wanted, cluster.node(share.node).name()); });
}

bool inside(std::uint32_t task, const TaskRange& range) {
  return task >= range.first && task <= range.last && (task - range.first) % std::max(range.step, 1U) == 0;
}

// Has the record a task of the range?
bool meets(const Job& job, const TaskRange& range) {
  if (!job.pending) return inside(job.task, range);
  return std::ranges::any_of(job.pending->tasks, [&](const TaskRange& waiting) {
    for (std::uint32_t task = waiting.first; task <= waiting.last; task += waiting.step) {
      if (inside(task, range)) return true;
    }
    return false;
  });
}

}  // namespace

bool passes(const Cluster& cluster, const Job& job, const JobSelector& s) {
  return (s.phases.empty() || std::ranges::find(s.phases, job.phase) != s.phases.end()) &&
         holds(s.users, cluster.text(job.user)) && holds(s.names, job.name) &&
         holds(s.accounts, cluster.text(job.account)) && holds(s.qos, cluster.text(job.qos)) &&
         in_partitions(cluster, job, s.partitions) && on_nodes(cluster, job, s.nodes);
}

bool selects_anything(const JobSelector& s) {
  return !s.jobs.empty() || !s.users.empty() || !s.names.empty() || !s.partitions.empty() || !s.accounts.empty() ||
         !s.qos.empty() || !s.nodes.empty() || !s.phases.empty();
}

std::vector<JobId> records_of(const Cluster& cluster, const JobRef& ref) {
  std::set<JobId> found;
  if (ref.tasks.empty()) {
    // The id of an array means all of it; the id of one task's record means that task.
    const auto& members = cluster.array_members(ref.job);
    if (!members.empty()) return {members.begin(), members.end()};
    if (cluster.job(ref.job) != nullptr) found.insert(ref.job);
    return {found.begin(), found.end()};
  }
  // Over the records, not over the numbers: a stranger's range may be as long as he likes.
  for (const JobId id : cluster.array_members(ref.job)) {
    const Job& job = cluster.jobs().at(id);
    const bool named = std::ranges::any_of(ref.tasks, [&](const TaskRange& range) { return meets(job, range); });
    if (named) found.insert(id);
  }
  return {found.begin(), found.end()};
}

}  // namespace drover
