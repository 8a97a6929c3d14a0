#include "domain/job.h"

#include <algorithm>
#include <tuple>

namespace drover {
namespace {

template <class T>
bool same(const std::shared_ptr<const T>& a, const std::shared_ptr<const T>& b) {
  return a == b || (a && b && *a == *b);
}

}  // namespace

bool operator==(const Run& a, const Run& b) {
  const auto values = [](const Run& r) {
    return std::tie(r.started, r.ended, r.attempt, r.restarts, r.launch_failures, r.cancelled_by, r.exit);
  };
  return values(a) == values(b) && same(a.placement, b.placement) && same(a.note, b.note) &&
         same(a.closing, b.closing) && same(a.avoid, b.avoid) && same(a.pod, b.pod);
}

bool operator==(const Job& a, const Job& b) {
  const auto values = [](const Job& j) {
    return std::tie(j.id, j.array, j.task, j.uid, j.gid, j.name, j.user, j.group, j.account, j.qos, j.partitions,
                    j.partition, j.shape, j.spec, j.submitted, j.begin, j.eligible, j.limit, j.min_limit, j.deadline,
                    j.priority, j.nice, j.phase, j.cause, j.hold, j.reason, j.requeue, j.node_lost, j.priority_set,
                    j.allocation, j.pod, j.version);
  };
  return values(a) == values(b) && same(a.pending, b.pending) && same(a.dependency, b.dependency) &&
         a.run == b.run && same(a.array_info, b.array_info);
}

bool Job::holds(NodeId node) const {
  if (!active()) return false;
  if (run->closing && std::ranges::find(run->closing->released, node) != run->closing->released.end()) return false;
  return std::ranges::any_of(run->placement->shares, [node](const NodeShare& share) { return share.node == node; });
}

std::uint32_t ArrayPending::count() const {
  std::uint32_t n = 0;
  for (const TaskRange& range : tasks) n += (range.last - range.first) / range.step + 1;
  return n;
}

bool ArrayPending::contains(std::uint32_t task) const {
  return std::ranges::any_of(tasks, [task](const TaskRange& range) {
    return task >= range.first && task <= range.last && (task - range.first) % range.step == 0;
  });
}

void ArrayPending::remove(std::uint32_t task) {
  std::vector<TaskRange> left;
  for (const TaskRange& range : tasks) {
    const bool inside = task >= range.first && task <= range.last && (task - range.first) % range.step == 0;
    if (!inside) {
      left.push_back(range);
      continue;
    }
    if (task > range.first) left.push_back({.first = range.first, .last = task - range.step, .step = range.step});
    if (task + range.step <= range.last) {
      left.push_back({.first = task + range.step, .last = range.last, .step = range.step});
    }
  }
  tasks = std::move(left);
}

}  // namespace drover
