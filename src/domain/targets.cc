#include "domain/targets.h"

#include <algorithm>

#include "domain/select.h"

namespace drover {
namespace {

bool asked(const JobRef& ref, std::uint32_t task) {
  return std::ranges::any_of(ref.tasks, [task](const TaskRange& r) {
    return task >= r.first && task <= r.last && (task - r.first) % std::max(1U, r.step) == 0;
  });
}

void add_named(const Cluster& cluster, const JobSelector& s, const JobRef& ref, Selection& selection) {
  const std::vector<JobId> records = records_of(cluster, ref);
  if (records.empty()) selection.refusals.push_back({.job = ref, .refusal = {.code = RefusalCode::unknown_job}});
  for (const JobId id : records) {
    const Job& job = *cluster.job(id);
    if (!passes(cluster, job, s)) continue;
    if (!job.is_array() || ref.tasks.empty()) {
      selection.targets.push_back({.job = id, .named = true, .as = ref});
      continue;
    }
    for (const TaskRange& range : job.pending->tasks) {
      for (std::uint32_t task = range.first; task <= range.last; task += range.step) {
        if (asked(ref, task)) selection.targets.push_back({.job = id, .task = task, .named = true, .as = ref});
      }
    }
  }
}

}  // namespace

Selection select_targets(const Cluster& cluster, const JobSelector& selector) {
  Selection selection;
  for (const JobRef& ref : selector.jobs) add_named(cluster, selector, ref, selection);
  if (!selector.jobs.empty() || !selects_anything(selector)) return selection;
  cluster.jobs().each([&](const Job& job) {
    if (job.phase == Phase::ended && selector.phases.empty()) return;
    if (passes(cluster, job, selector)) selection.targets.push_back({.job = job.id, .as = {.job = job.id}});
  });
  return selection;
}

JobId alone(Facts& facts, const Target& target) {
  if (target.task == kNoTask) return target.job;
  const bool last = facts.cluster().job(target.job)->pending->count() == 1;
  const JobId id = last ? target.job : facts.cluster().next_job();
  facts.add(ArrayTaskSplit{.array = target.job, .task = target.task, .job = id});
  return id;
}

}  // namespace drover
