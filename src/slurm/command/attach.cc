#include "slurm/command/attach.h"

#include <poll.h>

#include <algorithm>

#include "slurm/exit.h"

namespace drover::slurm {
namespace {

constexpr int kLooks = 50;
constexpr int kPauseMs = 20;

Result<std::optional<api::StepView>> look_at(Call& call, JobId job, std::uint32_t step) {
  std::optional<api::StepView> found;
  TRY(call.controller->steps({.jobs = {{.job = job}}, .step = step},
                             [&](api::StepView& view) { found = std::move(view); }));
  return found;
}

// The socket of an agent of this machine: of the node this runs on, or of any that has one here.
Result<std::string> own_agent(Call& call) {
  const std::string own = call.variable("SLURMD_NODENAME").value_or("");
  std::string path;
  TRY(call.controller->nodes([&](api::NodeView& view) {
    const NodeInventory& node = view.node.inventory;
    if (is_socket(node.stream_path) && (path.empty() || node.name == own)) path = node.stream_path;
  }));
  if (path.empty()) {
    return Error{Errc::unavailable,
                 "no agent of the cluster runs on this machine, so the step's output can't be "
                 "fetched: start it from a node, or inside a job"};
  }
  return path;
}

}  // namespace

std::vector<std::uint32_t> numbers_of(const std::vector<drover::TaskRange>& ranges) {
  std::vector<std::uint32_t> tasks;
  for (const drover::TaskRange& range : ranges) {
    for (std::uint64_t t = range.first; t <= range.last; t += std::max(range.step, 1U)) {
      tasks.push_back(static_cast<std::uint32_t>(t));
    }
  }
  return tasks;
}

std::string step_text(const api::StepView& step) {
  return std::to_string(step.job.value()) + "." + std::to_string(step.number);
}

Result<api::StepView> find_step(Call& call, JobId job, std::uint32_t step, bool just_made) {
  for (int i = 0; i < (just_made ? kLooks : 1); ++i) {
    if (i > 0) ::poll(nullptr, 0, kPauseMs);
    auto found = TRY(look_at(call, job, step));
    if (found) return std::move(*found);
  }
  return Error{Errc::not_found, "Invalid job id specified"};
}

Result<SessionPlan> plan_session(Call& call, const api::StepView& step, std::string shown) {
  SessionPlan plan{.program = call.program,
                   .job = step.job,
                   .attempt = step.attempt,
                   .step = step.number,
                   .shown = std::move(shown)};
  std::string relay;
  for (const api::StepShareView& share : step.shares) {
    PartPlace place{
        .node = share.share.node, .tasks = numbers_of(share.tasks), .path = share.stream_path};
    if (!is_socket(place.path)) {
      if (relay.empty()) relay = TRY(own_agent(call));
      place.path = relay;
    }
    plan.parts.push_back(std::move(place));
  }
  return plan;
}

SessionEnds session_ends(Call& call, const api::StepView& step, const Signals& signals) {
  const JobId job = step.job;
  const std::uint32_t number = step.number;
  return {
      .signals = signals.fd(),
      .take_signals = [&signals] { return signals.take(); },
      .window = [] { return window_of(0); },
      .clock = [&call] { return call.time_format().print(call.clock ? call.clock() : call.now); },
      .ask = [&call, job, number] { return look_at(call, job, number); },
      .end_step =
          [&call, job, number] {
            api::Execute wish;
            wish.command = EndStep{.job = job, .step = number};
            static_cast<void>(call.controller->execute(wish).has_value());
          }};
}

}  // namespace drover::slurm
