#include "domain/steps.h"

#include <algorithm>
#include <utility>

#include "domain/attempts.h"
#include "domain/may.h"

namespace drover {
namespace {

constexpr std::size_t kMaxName = 1024;
constexpr std::size_t kMaxTicket = 256;

std::string id_text(JobId job, std::uint32_t step) {
  return std::to_string(job.value()) + "." + std::to_string(step);
}

std::optional<Refusal> check_wish(const StepWish& wish) {
  const auto invalid = [](const char* what) { return Refusal{.code = RefusalCode::invalid_request, .subject = what}; };
  if (wish.name.size() > kMaxName) return invalid("name of the step");
  if (wish.ticket.size() > kMaxTicket) return invalid("ticket of the step");
  if (wish.limit < Duration{0}) return Refusal{.code = RefusalCode::invalid_limit, .subject = "time limit of the step"};
  return check_step(wish.request);
}

std::optional<Refusal> place_step(Facts& facts, const Job& job, const StepWish& wish, const std::string& key,
                                  Instant now) {
  const Cluster& cluster = facts.cluster();
  const JobSteps& of = cluster.steps(job.id);
  auto fit = fit_step(wish.request, step_nodes(cluster, job), of.steps);
  if (auto* refusal = std::get_if<Refusal>(&fit)) return std::move(*refusal);
  StepPlaced placed{.job = job.id, .attempt = job.run->attempt, .key = key};
  placed.step = {.number = of.next,
                 .attempt = job.run->attempt,
                 .name = wish.name,
                 .request = wish.request,
                 .spec = wish.spec,
                 .ticket = wish.ticket,
                 .shares = std::move(*std::get_if<std::vector<StepShare>>(&fit)),
                 .limit = wish.limit,
                 .started = now};
  facts.add(std::move(placed));
  return std::nullopt;
}

// The step that a wish names, if it goes on and the caller may touch it.
std::variant<const Step*, Refusal> named_step(const Cluster& cluster, const Caller& caller, JobId id,
                                              std::uint32_t number) {
  const Job* job = cluster.job(id);
  if (job == nullptr) return Refusal{.code = RefusalCode::unknown_job, .subject = std::to_string(id.value())};
  if (!may(cluster, caller, Verb::change_job, job->uid)) return Refusal{.code = RefusalCode::not_permitted};
  if (number >= cluster.steps(id).next) {
    return Refusal{.code = RefusalCode::unknown_job, .subject = id_text(id, number)};
  }
  const Step* step = cluster.step(id, number);
  if (step == nullptr || step->phase == StepPhase::ended) {
    return Refusal{.code = RefusalCode::already_ended, .subject = id_text(id, number)};
  }
  return step;
}

}  // namespace

std::vector<StepNode> step_nodes(const Cluster& cluster, const Job& job) {
  std::vector<StepNode> nodes;
  for (const NodeShare& share : job.run->placement->shares) {
    const Node& node = cluster.node(share.node);
    StepNode& place = nodes.emplace_back();
    place = {.share = &share, .name = node.name(), .open = node.contact == Contact::up};
    for (const Grant& grant : share.devices) place.devices.push_back(&cluster.device(grant.device).info);
  }
  return nodes;
}

// ---- wishes ----

Answer decide_create_step(Facts& facts, const Asked& asked, const CreateStep& wish, Instant now) {
  const Job* job = facts.cluster().job(wish.job);
  if (job == nullptr) {
    return Refusal{.code = RefusalCode::unknown_job, .subject = std::to_string(wish.job.value())};
  }
  if (!may(facts.cluster(), asked.caller, Verb::change_job, job->uid)) {
    return Refusal{.code = RefusalCode::not_permitted};
  }
  if (!asked.key.empty()) {
    const auto& keys = facts.cluster().steps(job->id).keys;
    const auto known = std::ranges::find(keys, asked.key, &StepKey::key);
    if (known != keys.end()) return Reply{.job = job->id, .jobs = {job->id}, .step = known->step};
  }
  if (job->phase == Phase::ended) return Refusal{.code = RefusalCode::already_ended};
  // A script may be quicker than the report that it has started.
  if (job->phase != Phase::placed && job->phase != Phase::running) return Refusal{.code = RefusalCode::not_running};
  if (job->pod) return Refusal{.code = RefusalCode::invalid_request, .subject = "a pod has containers, no steps"};
  if (auto refusal = check_wish(wish.step)) return std::move(*refusal);
  const std::uint32_t number = facts.cluster().steps(job->id).next;
  if (auto refusal = place_step(facts, *job, wish.step, asked.key, now)) return std::move(*refusal);
  return Reply{.job = wish.job, .jobs = {wish.job}, .step = number};
}

Answer decide_end_step(Facts& facts, const Caller& caller, const EndStep& wish, Instant now) {
  const auto named = named_step(facts.cluster(), caller, wish.job, wish.step);
  if (const auto* refusal = std::get_if<Refusal>(&named)) return *refusal;
  const Step& step = **std::get_if<const Step*>(&named);
  if (step.phase == StepPhase::running) {
    facts.add(StepEnding{.job = wish.job, .attempt = step.attempt, .step = wish.step, .cause = Cause::cancelled,
                         .by = caller.uid, .at = now});
  }
  return Reply{.job = wish.job, .jobs = {wish.job}, .step = wish.step};
}

Answer decide_signal_step(Facts& facts, const Caller& caller, const SignalStep& wish, std::vector<Signalled>& signals) {
  if (wish.signal == 0 || wish.signal > 64) {
    return Refusal{.code = RefusalCode::invalid_request, .subject = "signal"};
  }
  const auto named = named_step(facts.cluster(), caller, wish.job, wish.step);
  if (const auto* refusal = std::get_if<Refusal>(&named)) return *refusal;
  signals.push_back({.job = wish.job, .signal = wish.signal, .step = wish.step});
  return Reply{.job = wish.job, .jobs = {wish.job}, .step = wish.step};
}

Answer decide_end_allocation(Facts& facts, const Caller& caller, const EndAllocation& wish, Instant now) {
  const Job* job = facts.cluster().job(wish.job);
  if (job == nullptr) {
    return Refusal{.code = RefusalCode::unknown_job, .subject = std::to_string(wish.job.value())};
  }
  if (!may(facts.cluster(), caller, Verb::change_job, job->uid)) return Refusal{.code = RefusalCode::not_permitted};
  if (!job->allocation) return Refusal{.code = RefusalCode::invalid_request, .subject = "the job is no allocation"};
  switch (job->phase) {
    case Phase::ended: return Refusal{.code = RefusalCode::already_ended};
    case Phase::ending: break;
    case Phase::waiting:
      facts.add(JobEnded{.job = wish.job, .cause = Cause::cancelled, .at = now, .by = caller.uid});
      break;
    case Phase::placed:
    case Phase::running: {
      const bool good = wish.exit == ExitStatus{};
      facts.add(JobEnding{.job = wish.job, .cause = good ? Cause::completed : Cause::failed, .by = caller.uid,
                          .at = now, .exit = wish.exit});
      break;
    }
  }
  return Reply{.job = wish.job, .jobs = {wish.job}};
}

std::optional<Refusal> check_first_step(const Submit& submit) {
  if (submit.allocation && submit.array) return Refusal{.code = RefusalCode::invalid_array, .subject = "an allocation"};
  if (!submit.first_step) return std::nullopt;
  if (!submit.allocation) return Refusal{.code = RefusalCode::invalid_request, .subject = "a first step of a script"};
  if (auto refusal = check_wish(*submit.first_step)) return refusal;
  const std::uint32_t want = submit.first_step->request.min_nodes;
  const std::uint32_t have = submit.request.max_nodes;
  if (have == 0 || want <= have) return std::nullopt;
  return Refusal{.code = RefusalCode::step_too_large, .amounts = {{.name = "nodes", .have = have, .want = want}}};
}

void begin_allocation(Facts& facts, JobId id, Instant now) {
  const Job& job = *facts.cluster().job(id);
  if (!job.allocation) return;
  facts.add(JobStarted{.job = id, .attempt = job.run->attempt, .at = now});
  const StepWish* first = facts.cluster().first_step(id);
  if (first == nullptr) return;
  [[maybe_unused]] const auto refused = place_step(facts, job, StepWish(*first), {}, now);
}

// ---- ends ----

void end_step_part(Facts& facts, JobId job, std::uint32_t number, const StepPartEnd& end) {
  const Step& step = *facts.cluster().step(job, number);
  if (step.over.size() + 1 < step.shares.size()) {
    facts.add(StepShareEnded{.job = job,
                             .attempt = step.attempt,
                             .step = number,
                             .node = end.node,
                             .cause = end.cause,
                             .exit = end.exit,
                             .usage = end.usage,
                             .note = end.note,
                             .at = end.at});
    return;
  }
  const bool good = step.worst == Cause::none || step.worst == Cause::completed;
  const Cause cause = step.phase == StepPhase::ending ? step.cause : good ? end.cause : step.worst;
  Usage usage = step.usage;
  usage.user_cpu += end.usage.user_cpu;
  usage.system_cpu += end.usage.system_cpu;
  usage.peak_memory = std::max(usage.peak_memory, end.usage.peak_memory);
  facts.add(StepEnded{.job = job,
                      .attempt = step.attempt,
                      .step = number,
                      .cause = cause,
                      .exit = shell_code(end.exit) > shell_code(step.exit) ? end.exit : step.exit,
                      .usage = usage,
                      .note = step.note.empty() ? end.note : step.note,
                      .at = end.at,
                      .by = cause == Cause::cancelled ? step.cancelled_by : 0});
}

void end_step_parts(Facts& facts, JobId job, NodeId node, Cause of_job, const std::string& note, Instant now) {
  std::vector<std::uint32_t> going_on;
  for (const auto& [number, step] : facts.cluster().steps(job).steps) {
    if (step.uses(node)) going_on.push_back(number);
  }
  const Cause cause = of_job == Cause::node_failed ? Cause::node_failed : Cause::unknown;
  for (const std::uint32_t number : going_on) {
    end_step_part(facts, job, number, {.node = node, .cause = cause, .note = note, .at = now});
  }
}

void on_step_ended(Facts& facts, const ReportStepEnded& report, Instant now) {
  const Job* job = facts.cluster().job(report.job);
  if (job == nullptr || job->run->attempt != report.attempt || !job->holds(report.node)) return;
  const Step* step = facts.cluster().step(report.job, report.step);
  if (step == nullptr || !step->uses(report.node)) return;
  const Instant at = report.ran > Duration{0} ? std::min(now, step->started + report.ran) : now;
  end_step_part(facts, report.job, report.step,
                {.node = report.node, .cause = report.cause, .exit = report.exit, .usage = report.usage,
                 .note = report.note, .at = at});
  if (report.leftover) drain_for_leftover(facts, report.node, now);
}

}  // namespace drover
