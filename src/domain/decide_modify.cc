// scontrol update JobId=...: for each job every field or none.
#include <algorithm>
#include <optional>
#include <set>

#include "domain/decide.h"
#include "domain/dependency.h"
#include "domain/may.h"
#include "domain/targets.h"

namespace drover {
namespace {

using Outcome = std::optional<Refusal>;

Refusal refuse(RefusalCode code, const char* subject = "") { return {.code = code, .subject = subject}; }

bool needs_waiting(const ModifyJob& m) {
  return m.partitions || m.account || m.qos || m.min_limit || m.begin || m.dependency || m.request;
}

Outcome check_limits(const Cluster& cluster, const Caller& caller, const ModifyJob& wish, const Job& job) {
  const bool admin = may(cluster, caller, Verb::raise_priority, job.uid);
  if (wish.limit) {
    if (*wish.limit < Duration{0}) return refuse(RefusalCode::invalid_limit, "time limit");
    const auto longer = [](Duration a, Duration b) { return b != Duration{0} && (a == Duration{0} || a > b); };
    const bool raised = longer(*wish.limit, job.limit);
    if (raised && !admin) return refuse(RefusalCode::not_permitted, "time limit");
  }
  const Duration limit = wish.limit.value_or(job.limit);
  const Duration least = wish.min_limit.value_or(job.min_limit);
  if (least < Duration{0} || (limit > Duration{0} && least > limit)) {
    return refuse(RefusalCode::invalid_limit, "minimum time");
  }
  if (wish.priority) {
    if (*wish.priority < 0) return refuse(RefusalCode::invalid_request, "priority");
    if (*wish.priority > job.priority && !admin) return refuse(RefusalCode::not_permitted, "priority");
  }
  if (wish.nice && *wish.nice < job.nice && !admin) return refuse(RefusalCode::not_permitted, "nice");
  return std::nullopt;
}

Outcome check(const Cluster& cluster, const Caller& caller, ModifyJob& wish, const Job& job, const Feasible& feasible) {
  if (!may(cluster, caller, Verb::change_job, job.uid)) return refuse(RefusalCode::not_permitted);
  if (job.phase == Phase::ended) return refuse(RefusalCode::already_ended);
  if (needs_waiting(wish) && job.phase != Phase::waiting) return refuse(RefusalCode::not_waiting);
  if (wish.name && wish.name->size() > 1024) return refuse(RefusalCode::invalid_request, "name");
  if (wish.throttle && !job.array) return refuse(RefusalCode::invalid_request, "not an array");
  if (auto refusal = check_limits(cluster, caller, wish, job)) return refusal;
  if (wish.dependency) {
    if (auto refusal = check_dependency(cluster, *wish.dependency, job.id)) return refusal;
  }
  if (!wish.partitions && !wish.request) return std::nullopt;
  return check_request(cluster, wish.partitions.value_or(cluster.text(job.partitions)),
                       wish.request ? *wish.request : cluster.request(job), feasible);
}

void change(Facts& facts, const Caller& caller, const ModifyJob& wish, JobId id, Instant now) {
  const Job& job = *facts.cluster().job(id);
  JobModified fact{.job = id,
                   .name = wish.name,
                   .partitions = wish.partitions,
                   .account = wish.account,
                   .qos = wish.qos,
                   .limit = wish.limit,
                   .min_limit = wish.min_limit,
                   .begin = wish.begin,
                   .deadline = wish.deadline,
                   .nice = wish.nice,
                   .requeue = wish.requeue,
                   .throttle = wish.throttle,
                   .request = wish.request};
  const bool waits = job.phase == Phase::waiting;
  if (wish.priority && *wish.priority > 0) {
    fact.priority = wish.priority;
    fact.priority_set = true;
  } else if (wish.nice && !job.priority_set && job.hold == Hold::none) {
    fact.priority = priority_for(*wish.nice);
  }
  facts.add(std::move(fact));
  if (wish.priority == 0 && waits && job.hold == Hold::none) {
    const bool admin = may(facts.cluster(), caller, Verb::raise_priority, job.uid);
    facts.add(JobHoldChanged{.job = id, .hold = admin ? Hold::admin : Hold::user, .priority = 0});
  } else if (wish.priority && *wish.priority > 0 && waits && job.hold != Hold::none) {
    facts.add(JobHoldChanged{.job = id, .hold = Hold::none, .priority = *wish.priority});
  }
  if (wish.dependency) {
    facts.add(DependencyChanged{.job = id, .left = *wish.dependency});
    settle_dependency(facts, id, now);
  }
}

}  // namespace

Answer decide_modify(Facts& facts, const Caller& caller, const ModifyJob& wish, const Feasible& feasible,
                     Instant now) {
  const Selection selection = select_targets(facts.cluster(), wish.jobs);
  if (selection.targets.empty() && selection.refusals.empty()) {
    return Refusal{.code = RefusalCode::invalid_request, .subject = "no job named"};
  }
  Reply reply{.refusals = selection.refusals};
  std::vector<JobRefusal> refused;
  std::set<JobId> throttled;  // a throttle is the array's: once is enough
  for (const Target& target : selection.targets) {
    ModifyJob checked = wish;
    const Job& job = *facts.cluster().job(target.job);
    if (wish.throttle && job.array && !throttled.insert(job.array).second) checked.throttle.reset();
    if (auto refusal = check(facts.cluster(), caller, checked, job, feasible)) {
      if (target.named) refused.push_back({.job = target.as, .refusal = std::move(*refusal)});
      continue;
    }
    const JobId id = alone(facts, target);
    change(facts, caller, checked, id, now);
    reply.jobs.push_back(id);
  }
  // An array named as a whole is refused only when nothing of it could be changed.
  for (JobRefusal& refusal : refused) {
    const bool done = std::ranges::any_of(selection.targets, [&](const Target& t) {
      return t.as == refusal.job && std::ranges::find(reply.jobs, t.job) != reply.jobs.end();
    });
    const bool said = std::ranges::any_of(reply.refusals, [&](const JobRefusal& r) { return r.job == refusal.job; });
    if (!done && !said) reply.refusals.push_back(std::move(refusal));
  }
  return reply;
}

}  // namespace drover
