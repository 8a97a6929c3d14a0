#include "domain/dependency.h"

#include <algorithm>
#include <set>
#include <vector>

namespace drover {
namespace {

bool succeeded(const Job& job) { return job.phase == Phase::ended && job.cause == Cause::completed; }

// Of one record, which for an array that still waits stands for many tasks.
TermState after_one(const Job& other, const DependencyTerm& term, Instant now) {
  const bool ended = other.phase == Phase::ended;
  switch (term.kind) {
    case DependencyKind::after:
      if (other.phase == Phase::waiting) return TermState::open;
      if (ended && other.run->attempt == 0) return TermState::met;  // cancelled before it started
      return other.run->started + term.delay <= now ? TermState::met : TermState::open;
    case DependencyKind::after_any: return ended ? TermState::met : TermState::open;
    case DependencyKind::after_ok:
    case DependencyKind::after_corr:
      if (!ended) return TermState::open;
      return succeeded(other) ? TermState::met : TermState::never;
    case DependencyKind::after_not_ok:
      if (!ended) return TermState::open;
      return succeeded(other) ? TermState::never : TermState::met;
    case DependencyKind::singleton: return TermState::open;
  }
  return TermState::open;
}

// Of all tasks of an array: after_not_ok needs one that failed once all have ended, the others all.
TermState after_array(const Cluster& cluster, JobId array, const DependencyTerm& term, Instant now) {
  bool open = false;
  bool met = false;
  bool never = false;
  for (const JobId id : cluster.array_members(array)) {
    const TermState state = after_one(*cluster.job(id), term, now);
    open = open || state == TermState::open;
    met = met || state == TermState::met;
    never = never || state == TermState::never;
  }
  if (term.kind == DependencyKind::after_not_ok) {
    return open ? TermState::open : met ? TermState::met : TermState::never;
  }
  return never ? TermState::never : open ? TermState::open : TermState::met;
}

// Jobs of the same name and owner that were submitted before and have not ended. Tasks of one array
// don't keep each other.
bool has_earlier_namesake(const Cluster& cluster, const Job& job) {
  const JobId self = job.array ? job.array : job.id;
  for (const Job* other = cluster.jobs().first_from(JobId(1)); other != nullptr && other->id < self;
       other = cluster.jobs().first_from(JobId(other->id.value() + 1))) {
    if (other->uid == job.uid && other->phase != Phase::ended && other->name == job.name) return true;
  }
  return false;
}

// What is left of a dependency for a job (or one task of an array).
Dependency left_of(const Cluster& cluster, const Job& job, const Dependency& dependency, std::uint32_t task,
                   Instant now) {
  Dependency left = dependency;
  left.terms.clear();
  std::size_t never = 0;
  for (const DependencyTerm& term : dependency.terms) {
    const TermState state = state_of(cluster, job, term, task, now);
    if (state == TermState::met && dependency.any) {
      left.terms.clear();
      left.never = false;
      return left;
    }
    if (state != TermState::met) left.terms.push_back(term);
    if (state == TermState::never) ++never;
  }
  left.never = dependency.any ? never > 0 && never == dependency.terms.size() : never > 0;
  return left;
}

bool has_after_corr(const Dependency& dependency) {
  return std::ranges::any_of(dependency.terms,
                             [](const DependencyTerm& t) { return t.kind == DependencyKind::after_corr; });
}

void note_left(Facts& facts, JobId id, const Dependency& left, Instant now) {
  const Job& job = *facts.cluster().job(id);
  if (left == *job.dependency) return;
  facts.add(DependencyChanged{.job = id, .left = left});
  if (left.never && left.cancel_if_never) {
    facts.add(JobEnded{.job = id, .cause = Cause::cancelled, .at = now, .note = "dependency never satisfied"});
  }
}

// Tasks of a waiting array whose counterpart in another array has ended get records of their own.
void split_tasks(Facts& facts, JobId array, Instant now) {
  std::vector<std::uint32_t> tasks;
  for (const TaskRange& range : facts.cluster().job(array)->pending->tasks) {
    for (std::uint32_t task = range.first; task <= range.last; task += range.step) tasks.push_back(task);
  }
  for (const std::uint32_t task : tasks) {
    const Job& job = *facts.cluster().job(array);
    const Dependency left = left_of(facts.cluster(), job, *job.dependency, task, now);
    if (left == *job.dependency) continue;
    const JobId id = job.pending->count() == 1 ? array : facts.cluster().next_job();
    facts.add(ArrayTaskSplit{.array = array, .task = task, .job = id});
    note_left(facts, id, left, now);
  }
}

bool reaches(const Cluster& cluster, JobId from, JobId target, std::set<JobId>& seen) {
  if (from == target) return true;
  const Job* job = cluster.job(from);
  if (job == nullptr || !job->dependency || !seen.insert(from).second) return false;
  return std::ranges::any_of(job->dependency->terms, [&](const DependencyTerm& term) {
    return term.job && reaches(cluster, term.job, target, seen);
  });
}

}  // namespace

TermState state_of(const Cluster& cluster, const Job& job, const DependencyTerm& term, std::uint32_t task,
                   Instant now) {
  if (term.kind == DependencyKind::singleton) {
    return has_earlier_namesake(cluster, job) ? TermState::open : TermState::met;
  }
  const bool array = !cluster.array_members(term.job).empty();
  std::uint32_t wanted = term.task;
  if (term.kind == DependencyKind::after_corr && array && task != kNoTask) wanted = task;
  if (array && wanted == kNoTask) return after_array(cluster, term.job, term, now);
  const Job* other = array ? cluster.array_task(term.job, wanted) : cluster.job(term.job);
  if (other != nullptr) return after_one(*other, term, now);
  // It has been forgotten, or the other array never had such a task.
  return term.kind == DependencyKind::after || term.kind == DependencyKind::after_any ? TermState::met
                                                                                      : TermState::never;
}

void settle_dependency(Facts& facts, JobId id, Instant now) {
  const Job* job = facts.cluster().job(id);
  if (job == nullptr || job->phase != Phase::waiting || !job->dependency) return;
  if (job->is_array() && has_after_corr(*job->dependency)) return split_tasks(facts, id, now);
  note_left(facts, id, left_of(facts.cluster(), *job, *job->dependency, job->task, now), now);
}

std::optional<Refusal> check_dependency(const Cluster& cluster, Dependency& dependency, JobId job) {
  std::vector<DependencyTerm> kept;
  bool met = false;
  for (const DependencyTerm& term : dependency.terms) {
    if (term.kind == DependencyKind::singleton) {
      kept.push_back(term);
      continue;
    }
    if (!term.job) return Refusal{.code = RefusalCode::invalid_request, .subject = "dependency"};
    std::set<JobId> seen;
    if (job && reaches(cluster, term.job, job, seen)) {
      return Refusal{.code = RefusalCode::dependency_on_itself, .subject = std::to_string(term.job.value())};
    }
    const bool known = cluster.job(term.job) != nullptr &&
                       (term.task == kNoTask || cluster.array_task(term.job, term.task) != nullptr);
    if (known) {
      kept.push_back(term);
    } else if (term.kind == DependencyKind::after || term.kind == DependencyKind::after_any) {
      met = true;
    } else {
      return Refusal{.code = RefusalCode::unknown_dependency, .subject = std::to_string(term.job.value())};
    }
  }
  dependency.terms = met && dependency.any ? std::vector<DependencyTerm>{} : std::move(kept);
  dependency.never = false;
  return std::nullopt;
}

}  // namespace drover
