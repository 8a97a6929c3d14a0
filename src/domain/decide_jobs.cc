// Wishes about jobs that exist. Each target is done or refused by itself.
#include <algorithm>
#include <set>

#include "domain/attempts.h"
#include "domain/decide.h"
#include "domain/may.h"
#include "domain/select.h"
#include "domain/targets.h"

namespace drover {
namespace {

using Outcome = std::optional<Refusal>;

Refusal refuse(RefusalCode code) { return {.code = code}; }

// Does `act(target)` for each target that the caller may change. An array named as a whole is one
// name: it is refused only when none of its records could be done.
template <class Act>
Answer for_each_target(Facts& facts, const Caller& caller, const JobSelector& selector, Act act) {
  if (!selects_anything(selector)) {
    return Refusal{.code = RefusalCode::invalid_request, .subject = "no job named"};
  }
  const Selection selection = select_targets(facts.cluster(), selector);
  Reply reply{.refusals = selection.refusals};
  std::vector<std::pair<JobRef, bool>> names;  // in the order of the wish; whether anything was done
  std::vector<JobRefusal> refused;
  for (const Target& target : selection.targets) {
    if (target.named && (names.empty() || !(names.back().first == target.as))) names.emplace_back(target.as, false);
    const Job& job = *facts.cluster().job(target.job);
    Outcome outcome;
    if (!may(facts.cluster(), caller, Verb::change_job, job.uid)) outcome = refuse(RefusalCode::not_permitted);
    JobId done = target.job;
    if (!outcome) outcome = act(target, done);
    if (!outcome) {
      reply.jobs.push_back(done);
      if (target.named) names.back().second = true;
    } else if (target.named) {
      refused.push_back({.job = target.as, .refusal = *outcome});
    }
  }
  for (const auto& [name, done] : names) {
    if (done) continue;
    const auto first = std::ranges::find(refused, name, &JobRefusal::job);
    if (first != refused.end()) reply.refusals.push_back(*first);
  }
  return reply;
}

Outcome hold_one(Facts& facts, const Caller& caller, const SetHold& wish, const Target& target, JobId& done) {
  const Job& job = *facts.cluster().job(target.job);
  if (job.phase == Phase::ended) return refuse(RefusalCode::already_ended);
  if (job.phase != Phase::waiting) return refuse(RefusalCode::not_waiting);
  const bool admin = may(facts.cluster(), caller, Verb::raise_priority, job.uid);
  if (!wish.hold) {
    if (job.hold == Hold::admin && !admin) return refuse(RefusalCode::not_permitted);
    if (job.hold == Hold::none) return std::nullopt;
    done = alone(facts, target);
    const std::int32_t nice = facts.cluster().job(done)->nice;
    facts.add(JobHoldChanged{.job = done, .hold = Hold::none, .priority = priority_for(nice)});
    return std::nullopt;
  }
  const Hold hold = admin && !wish.as_user ? Hold::admin : Hold::user;
  if (job.hold == hold || (job.hold == Hold::admin && !admin)) return std::nullopt;
  done = alone(facts, target);
  facts.add(JobHoldChanged{.job = done, .hold = hold, .priority = 0});
  return std::nullopt;
}

Outcome requeue_one(Facts& facts, const Caller& caller, const Requeue& wish, JobId id, Instant now) {
  const Job& job = *facts.cluster().job(id);
  if (!job.requeue) return refuse(RefusalCode::not_requeueable);
  const Hold hold = wish.hold ? Hold::requeued : Hold::none;
  switch (job.phase) {
    case Phase::waiting:
      if (!wish.hold) return refuse(RefusalCode::not_running);
      if (job.hold == Hold::none) facts.add(JobHoldChanged{.job = id, .hold = Hold::user, .priority = 0});
      return std::nullopt;
    case Phase::ending:
      if (job.cause == Cause::cancelled) return refuse(RefusalCode::not_running);
      [[fallthrough]];
    case Phase::placed:
    case Phase::running:
      facts.add(JobEnding{.job = id, .cause = Cause::requeued, .by = caller.uid, .then_hold = hold, .at = now});
      return std::nullopt;
    case Phase::ended: {
      if (job.is_array()) return refuse(RefusalCode::not_requeueable);  // tasks that were cancelled together
      const Duration delay = facts.cluster().config().settings.requeue_delay;
      facts.add(JobRequeued{.job = id, .begin = now + delay, .hold = hold, .at = now});
      return std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace

Answer decide_cancel(Facts& facts, const Caller& caller, const Cancel& wish, Instant now) {
  return for_each_target(facts, caller, wish.jobs, [&](const Target& target, JobId& done) -> Outcome {
    const Job& job = *facts.cluster().job(target.job);
    if (job.phase == Phase::ended) return refuse(RefusalCode::already_ended);
    if (job.phase == Phase::waiting) {
      done = alone(facts, target);
      facts.add(JobEnded{.job = done, .cause = Cause::cancelled, .at = now, .by = caller.uid});
    } else if (job.phase != Phase::ending || job.cause != Cause::cancelled) {
      facts.add(JobEnding{.job = done, .cause = Cause::cancelled, .by = caller.uid, .at = now});
    }
    return std::nullopt;
  });
}

Answer decide_signal(Facts& facts, const Caller& caller, const Signal& wish, std::vector<Signalled>& signals) {
  if (wish.signal == 0 || wish.signal > 64) {
    return Refusal{.code = RefusalCode::invalid_request, .subject = "signal"};
  }
  return for_each_target(facts, caller, wish.jobs, [&](const Target& target, JobId&) -> Outcome {
    const Job& job = *facts.cluster().job(target.job);
    if (job.phase == Phase::ended) return refuse(RefusalCode::already_ended);
    if (job.phase != Phase::running && job.phase != Phase::ending) return refuse(RefusalCode::not_running);
    signals.push_back({.job = job.id, .signal = wish.signal, .target = wish.target});
    return std::nullopt;
  });
}

Answer decide_hold(Facts& facts, const Caller& caller, const SetHold& wish) {
  return for_each_target(facts, caller, wish.jobs, [&](const Target& target, JobId& done) {
    return hold_one(facts, caller, wish, target, done);
  });
}

Answer decide_requeue(Facts& facts, const Caller& caller, const Requeue& wish, Instant now) {
  return for_each_target(facts, caller, wish.jobs, [&](const Target& target, JobId& done) -> Outcome {
    const Job& job = *facts.cluster().job(target.job);
    if (job.phase == Phase::waiting && job.requeue && wish.hold) done = alone(facts, target);
    return requeue_one(facts, caller, wish, done, now);
  });
}

}  // namespace drover
