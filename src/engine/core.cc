#include "engine/core.h"

#include <algorithm>
#include <utility>

#include "domain/attempts.h"
#include "domain/dependency.h"
#include "domain/steps.h"
#include "engine/pass.h"
#include "engine/plan.h"

namespace drover::engine {

Core::Core(Cluster cluster) : cluster_(std::move(cluster)), index_(cluster_), pass_due_(index_.queued() > 0) {}

Outcome Core::step(const Input& input, Instant now) {
  Outcome out;
  Facts facts(cluster_);
  std::visit([&](const auto& i) { on(i, facts, out, now); }, input);
  draw_conclusions(facts, now);
  out.dirty.assign(facts.wanted.begin(), facts.wanted.end());
  out.facts = facts.take();
  out.pass_due = pass_due_;
  if (!index_.alarms().empty()) out.wake_at = index_.alarms().begin()->first;
  for (const auto& [job, reservation] : cluster_.reservations()) {
    if (reservation.start > now && (out.wake_at == Instant{} || reservation.start < out.wake_at)) {
      out.wake_at = reservation.start;
    }
  }
  return out;
}

// ---- inputs ----

void Core::on(const Asked& input, Facts& facts, Outcome& out, Instant now) {
  Answer answer = decide(input, facts, out, now);
  if (auto* reply = std::get_if<Reply>(&answer)) out.answer = std::move(*reply);
  else out.answer = std::move(*std::get_if<Refusal>(&answer));
}

Answer Core::decide(const Asked& input, Facts& facts, Outcome& out, Instant now) {
  const Feasible feasible = [this](const Cluster& cluster, const Partition& partition, const Request& request) {
    return feasibility_.ask(cluster, partition, request);
  };
  std::vector<Signalled> signals;
  Answer answer = std::visit(
      Overload{
          [&](const Submit& wish) { return decide_submit(facts, input, wish, feasible, now); },
          [&](const Cancel& wish) { return decide_cancel(facts, input.caller, wish, now); },
          [&](const Signal& wish) { return decide_signal(facts, input.caller, wish, signals); },
          [&](const SetHold& wish) { return decide_hold(facts, input.caller, wish); },
          [&](const Requeue& wish) { return decide_requeue(facts, input.caller, wish, now); },
          [&](const ModifyJob& wish) { return decide_modify(facts, input.caller, wish, feasible, now); },
          [&](const UpdateNode& wish) { return decide_node(facts, input.caller, wish, now); },
          [&](const UpdatePartition& wish) { return decide_partition(facts, input.caller, wish); },
          [&](const CreateStep& wish) { return decide_create_step(facts, input, wish, now); },
          [&](const EndStep& wish) { return decide_end_step(facts, input.caller, wish, now); },
          [&](const SignalStep& wish) { return decide_signal_step(facts, input.caller, wish, signals); },
          [&](const EndAllocation& wish) { return decide_end_allocation(facts, input.caller, wish, now); },
          [&](const PutDocument& wish) { return decide_put(facts, input, wish, feasible, now); },
          [&](const RemoveDocument& wish) { return decide_remove(facts, input.caller, wish, now); },
          [&](const MarkNode& wish) { return decide_mark(facts, input.caller, wish, now); },
      },
      input.command);
  for (const Signalled& signal : signals) order_signal(signal, out);
  return answer;
}

void Core::order_signal(const Signalled& signal, Outcome& out) const {
  const Job& job = *cluster_.job(signal.job);
  const Step* step = cluster_.step(signal.job, signal.step);
  for (const NodeShare& share : job.run->placement->shares) {
    if (step == nullptr ? !job.holds(share.node) : !step->uses(share.node)) continue;
    out.signals.push_back({.node = share.node, .job = job.id, .attempt = job.run->attempt, .signal = signal.signal,
                           .target = signal.target, .step = signal.step});
  }
}

void Core::on(const Configure& input, Facts& facts, Outcome& out, Instant) {
  if (auto refusal = decide_configure(facts, input.config)) out.answer = std::move(*refusal);
}

void Core::on(const NodeRegister& input, Facts& facts, Outcome& out, Instant now) {
  if (auto refusal = decide_register(facts, input, now)) out.answer = std::move(*refusal);
}

void Core::on(const NodeSilent& input, Facts& facts, Outcome&, Instant now) {
  const bool known = input.node && input.node.value() <= cluster_.nodes().size();
  if (!known || cluster_.node(input.node).contact == Contact::lost) return;
  facts.add(NodeContactChanged{.node = input.node, .contact = Contact::lost, .at = now});
}

void Core::on(const ReportStarted& input, Facts& facts, Outcome&, Instant now) { on_started(facts, input, now); }

void Core::on(const ReportEnded& input, Facts& facts, Outcome&, Instant now) { on_ended(facts, input, now); }

void Core::on(const ReportStepEnded& input, Facts& facts, Outcome&, Instant now) { on_step_ended(facts, input, now); }

void Core::on(const ReportPod& input, Facts& facts, Outcome&, Instant now) { on_pod(facts, input, now); }

void Core::on(const ClockJump& input, Facts& facts, Outcome&, Instant now) {
  facts.add(ClockJumped{.by = input.by, .at = now});
}

void Core::on(const Timer&, Facts& facts, Outcome&, Instant now) {
  std::vector<JobId> due;
  for (const auto& [at, job] : index_.alarms()) {
    if (at > now) break;
    due.push_back(job);
  }
  JobsForgotten forgotten;
  for (const JobId job : due) on_alarm(facts, job, now, forgotten);
  if (!forgotten.jobs.empty()) {
    keep_delays(facts, forgotten);
    facts.add(std::move(forgotten));
  }
  for (const auto& [job, reservation] : cluster_.reservations()) {
    if (reservation.start <= now) pass_due_ = true;
  }
}

void Core::on_alarm(Facts& facts, JobId id, Instant now, JobsForgotten& forgotten) {
  const Job* job = cluster_.job(id);
  if (job == nullptr) return;
  if (job->phase == Phase::ended) {
    const auto& members = cluster_.array_members(job->array);
    if (members.empty()) forgotten.jobs.push_back(id);
    forgotten.jobs.insert(forgotten.jobs.end(), members.begin(), members.end());
    return;
  }
  if (job->allocation && job->phase == Phase::running) {
    facts.add(JobEnding{.job = id, .cause = Cause::time_limit, .at = now});
    return;
  }
  if (job->phase != Phase::waiting) return;
  const Duration least = least_time(*job);
  if (job->deadline != Instant{} && now + (least == Duration::max() ? Duration{0} : least) >= job->deadline) {
    facts.add(JobEnded{.job = id, .cause = Cause::deadline, .at = now});
    return;
  }
  settle_dependency(facts, id, now);
  make_eligible(facts, id, now);
}

// "after:job+minutes" outlives the record of that job as a begin time.
void Core::keep_delays(Facts& facts, const JobsForgotten& forgotten) {
  for (const JobId id : forgotten.jobs) {
    const Instant started = cluster_.job(id)->run->started;
    const std::set<JobId> waiting = cluster_.dependents(id);
    for (const JobId dependent : waiting) {
      const Job& job = *cluster_.job(dependent);
      if (!job.dependency || job.dependency->any || started == Instant{}) continue;
      Instant begin = job.begin;
      for (const DependencyTerm& term : job.dependency->terms) {
        if (term.kind == DependencyKind::after && term.job == id) begin = std::max(begin, started + term.delay);
      }
      if (begin != job.begin) facts.add(JobModified{.job = dependent, .begin = begin});
    }
  }
}

void Core::on(const Pass& input, Facts& facts, Outcome&, Instant now) {
  const Plan plan = plan_pass(cluster_, index_, now, input.budget);
  const std::size_t kept = commit(facts, plan, now);
  draw_conclusions(facts, now);
  const auto used = static_cast<std::uint32_t>(kept);
  bool explained = true;
  if (plan.complete) explained = note_queued_reasons(facts, std::max(1U, input.budget) - std::min(used, input.budget));
  // Where terms look around, a start may have let somebody in.
  pass_due_ = !plan.complete || !explained || (kept > 0 && index_.looks_around());
}

// ---- what follows from facts ----

void Core::follow(Facts& facts) {
  if (!facts.described.empty() || facts.configured) feasibility_.forget();
  pass_due_ = index_.follow(cluster_, facts) || pass_due_;
  facts.rooms.clear();
  facts.described.clear();
  facts.jobs.clear();
  facts.configured = false;
}

void Core::draw_conclusions(Facts& facts, Instant now) {
  std::set<JobId> touched;
  for (std::size_t at = 0;;) {
    while (at < facts.list().size()) conclude(facts, at++, now);
    if (facts.jobs.empty() && facts.described.empty() && facts.rooms.empty() && !facts.configured) break;
    if (facts.configured) note_all_waiting(facts);
    const std::set<JobId> jobs = facts.jobs;
    touched.insert(jobs.begin(), jobs.end());
    follow(facts);
    for (const JobId job : jobs) make_eligible(facts, job, now);
  }
  note_reasons(facts, touched);
}

// Other partitions, other standings.
void Core::note_all_waiting(Facts& facts) {
  cluster_.jobs().each([&](const Job& job) {
    if (job.phase == Phase::waiting) facts.jobs.insert(job.id);
  });
}

void Core::conclude(Facts& facts, std::size_t at, Instant now) {
  const Event& event = facts.list()[at];  // not to be used once a fact was added: the list grows
  if (const auto* submitted = std::get_if<JobSubmitted>(&event)) {
    settle_dependency(facts, submitted->job, now);
  } else if (const auto* placed = std::get_if<JobPlaced>(&event)) {
    settle_dependents(facts, placed->job, now);
  } else if (const auto* split = std::get_if<ArrayTaskSplit>(&event)) {
    settle_dependency(facts, split->job, now);
  } else if (const auto* ended = std::get_if<JobEnded>(&event)) {
    const JobId job = ended->job;
    settle_dependents(facts, job, now);
    settle_namesakes(facts, *cluster_.job(job), now);
  } else if (const auto* forgotten = std::get_if<JobsForgotten>(&event)) {
    const std::vector<JobId> jobs = forgotten->jobs;
    for (const JobId job : jobs) settle_all(facts, cluster_.dependents(job), now);
  }
}

void Core::settle_dependents(Facts& facts, JobId id, Instant now) {
  const Job* job = cluster_.job(id);
  if (job->phase == Phase::waiting) return;  // it was requeued: not its end after all
  std::set<JobId> waiting = cluster_.dependents(id);
  if (job->array && job->array != id) {
    const auto& more = cluster_.dependents(job->array);
    waiting.insert(more.begin(), more.end());
  }
  settle_all(facts, std::move(waiting), now);
}

void Core::settle_all(Facts& facts, std::set<JobId> waiting, Instant now) {
  for (const JobId dependent : waiting) settle_dependency(facts, dependent, now);
  facts.jobs.merge(waiting);  // the alarm of a delayed one may have changed
}

void Core::settle_namesakes(Facts& facts, const Job& ended, Instant now) {
  if (index_.singletons().empty()) return;
  const auto found = index_.singletons().find({ended.uid, ended.name});
  if (found == index_.singletons().end()) return;
  const std::set<JobId> waiting = found->second;
  for (const JobId job : waiting) settle_dependency(facts, job, now);
}

void Core::make_eligible(Facts& facts, JobId id, Instant now) {
  const Job* job = cluster_.job(id);
  if (job == nullptr || job->phase != Phase::waiting || job->eligible != Instant{}) return;
  if (job->hold != Hold::none || job->dependency || job->begin > now) return;
  facts.add(JobEligible{.job = id, .at = now});
}

// Of jobs that can't be tried at all: at once.
void Core::note_reasons(Facts& facts, const std::set<JobId>& jobs) {
  ReasonsNoted noted;
  for (const JobId id : jobs) {
    const Job* job = cluster_.job(id);
    if (job == nullptr || job->phase != Phase::waiting) continue;
    const Standing standing = standing_of(cluster_, *job, index_.active_of(job->array));
    if (!standing.queued && standing.reason != job->reason) noted.reasons.push_back({id, standing.reason});
  }
  if (!noted.reasons.empty()) facts.add(std::move(noted));
}

// Of jobs that a pass has looked at. False: there are more of them.
bool Core::note_queued_reasons(Facts& facts, std::uint32_t most) {
  ReasonsNoted noted;
  for (const JobId id : index_.unexplained()) {
    if (noted.reasons.size() >= most) break;
    noted.reasons.push_back({id, index_.reason_for(*cluster_.job(id))});
  }
  const bool all = noted.reasons.size() == index_.unexplained().size();
  if (noted.reasons.empty()) return all;
  facts.add(noted);
  for (const JobReason& reason : noted.reasons) index_.reconsider(cluster_, reason.job);
  return all;
}

}  // namespace drover::engine
