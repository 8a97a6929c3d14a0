// The fold of the facts about steps.
#include <algorithm>

#include "base/check.h"
#include "domain/cluster.h"

namespace drover {
namespace {

// Of steps that are over, for clients that ask late; the accounts have them all.
constexpr std::size_t kStepsOfActiveJob = 32;
constexpr std::size_t kKeys = 256;  // of the latest steps of a job

const JobSteps kNoSteps;

Step& step_at(std::map<JobId, JobSteps>& all, JobId job, std::uint32_t number) {
  Step& step = all.at(job).steps.at(number);
  CHECK(step.phase != StepPhase::ended);
  return step;
}

}  // namespace

bool Step::uses(NodeId node) const {
  return phase != StepPhase::ended && std::ranges::find(over, node) == over.end() &&
         std::ranges::any_of(shares, [node](const StepShare& s) { return s.share.node == node; });
}

const JobSteps& Cluster::steps(JobId job) const {
  const auto found = steps_.find(job);
  return found == steps_.end() ? kNoSteps : found->second;
}

const Step* Cluster::step(JobId job, std::uint32_t number) const {
  const JobSteps& of = steps(job);
  const auto found = of.steps.find(number);
  return found == of.steps.end() ? nullptr : &found->second;
}

const StepWish* Cluster::first_step(JobId job) const {
  const auto found = first_steps_.find(job);
  return found == first_steps_.end() ? nullptr : &found->second;
}

void Cluster::on(const StepPlaced& e) {
  const Job& job = jobs_.at(e.job);
  CHECK(job.active() && job.run->attempt == e.attempt);
  JobSteps& of = steps_[e.job];
  CHECK(e.step.number == of.next);
  ++of.next;
  of.steps.emplace(e.step.number, e.step);
  first_steps_.erase(e.job);
  if (e.key.empty()) return;
  if (of.keys.size() == kKeys) of.keys.erase(of.keys.begin());
  of.keys.push_back({.key = e.key, .step = e.step.number});
}

void Cluster::on(const StepEnding& e) {
  Step& step = step_at(steps_, e.job, e.step);
  step.phase = StepPhase::ending;
  step.cause = e.cause;
  step.cancelled_by = e.by;
}

void Cluster::on(const StepShareEnded& e) {
  Step& step = step_at(steps_, e.job, e.step);
  step.over.push_back(e.node);
  if (step.worst == Cause::none || step.worst == Cause::completed) step.worst = e.cause;
  if (shell_code(e.exit) > shell_code(step.exit)) step.exit = e.exit;
  step.usage.user_cpu += e.usage.user_cpu;
  step.usage.system_cpu += e.usage.system_cpu;
  step.usage.peak_memory = std::max(step.usage.peak_memory, e.usage.peak_memory);
  if (step.note.empty()) step.note = e.note;
}

void Cluster::on(const StepEnded& e) {
  Step& step = step_at(steps_, e.job, e.step);
  step.phase = StepPhase::ended;
  step.cause = e.cause;
  step.exit = e.exit;
  step.usage = e.usage;
  step.note = e.note;
  step.ended = e.at;
  step.cancelled_by = e.by;
  JobSteps& of = steps_.at(e.job);
  if (shell_code(e.exit) > shell_code(of.highest)) of.highest = e.exit;
  of.over.push_back(e.step);
  forget_steps(e.job, kStepsOfActiveJob);
}

void Cluster::forget_steps(JobId job, std::size_t keep) {
  const auto found = steps_.find(job);
  if (found == steps_.end()) return;
  JobSteps& of = found->second;
  while (of.over.size() > keep) {
    of.steps.erase(of.over.front());
    of.over.erase(of.over.begin());
  }
}

}  // namespace drover
