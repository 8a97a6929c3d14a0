#include "slurm/command/attach.h"

#include <poll.h>

#include <algorithm>

#include "base/text.h"
#include "native/discovery.h"
#include "native/login.h"
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

// Who passes streams on from here: this node's agent, the controller on its own machine, or a login to it.
Result<std::string> own_relay() {
  std::string folder = TRY(native::find_state_folder());
  if (native::is_login(folder)) return folder;
  std::string path = native::streams_in(folder);
  if (is_socket(path)) return path;
  return Error{Errc::unavailable,
               "the step is on another machine, and nothing here passes its streams on: start it from a node, or "
               "inside a job"};
}

Result<PartPlace> place_of(const api::StepShareView& share, std::string& relay) {
  PartPlace place{.node = share.share.node, .tasks = numbers_of(share.tasks), .path = share.stream_path};
  if (is_socket(place.path)) return place;
  if (share.stream_address.empty()) {
    return Error{Errc::unavailable, "node " + printable(place.node) +
                                        " is another machine and takes no streams from here: its agent has no "
                                        "certificate (`drover node token` makes it join with one)"};
  }
  if (relay.empty()) relay = TRY(own_relay());
  place.path = relay;
  place.address = share.stream_address;
  return place;
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
    plan.parts.push_back(TRY(place_of(share, relay)));
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
