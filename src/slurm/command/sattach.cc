// sattach: watches the output of a step that runs.
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "slurm/command/allocation.h"
#include "slurm/command/attach.h"
#include "slurm/exit.h"
#include "slurm/render/job_text.h"

namespace drover::slurm {
namespace {

using enum Takes;
constexpr std::array kOptions{CommandOption{"error-filter", 0, value, true},
                              CommandOption{"help", 'h'},
                              CommandOption{"input-filter", 0, value, true},
                              CommandOption{"label", 'l'},
                              CommandOption{"layout", 0},
                              CommandOption{"output-filter", 0, value, true},
                              CommandOption{"pty", 0, nothing, true},
                              CommandOption{"quiet", 'Q'},
                              CommandOption{"usage", 'u'},
                              CommandOption{"verbose", 'v'},
                              CommandOption{"version", 'V'}};
constexpr std::string_view kUsage = "Usage: sattach [-lQv] [--layout] JOB.STEP\n";

std::string layout_text(const api::StepView& step) {
  std::vector<std::string> nodes;
  for (const api::StepShareView& share : step.shares) nodes.push_back(share.share.node);
  std::string text = "Job step layout:\n\t" + std::to_string(step.task_count) + " tasks, " +
                     std::to_string(nodes.size()) + " nodes (" + nodes_text(nodes) + ")\n\n";
  for (std::size_t i = 0; i < step.shares.size(); ++i) {
    const auto tasks = numbers_of(step.shares[i].tasks);
    text += "\tNode " + std::to_string(i) + " (" + nodes[i] + "), " + std::to_string(tasks.size()) +
            " task(s):";
    for (const std::uint32_t task : tasks) text += " " + std::to_string(task);
    text += "\n";
  }
  return text;
}

}  // namespace

int sattach(Call& call) {
  const auto options = choose(call, kOptions);
  if (!options) {
    call.err += options.error().message + "\n";
    return 1;
  }
  const Chosen& chosen = options.value();
  if (chosen.has("version") || chosen.has("help") || chosen.has("usage")) {
    call.out += chosen.has("version") ? kVersionLine : kUsage;
    return 0;
  }
  if (chosen.rest.size() != 1) return call.fail("No job step id given: write JOB.STEP");
  const std::string& text = chosen.rest.front();
  const std::size_t dot = text.find('.');
  const auto job = parse_uint(text.substr(0, dot));
  const auto number = parse_uint(dot == std::string::npos ? "" : text.substr(dot + 1));
  if (!job || !number || *number >= kBatchStep)
    return call.fail("Invalid job step id: " + printable(text));
  auto step = find_step(call, JobId(*job), static_cast<std::uint32_t>(*number), false);
  if (!step) {
    if (step.error().code == Errc::unavailable)
      return call.fail(not_reached("sattach", step.error()));
    return call.fail("Could not get job step info: " + step.error().message);
  }
  if (chosen.has("layout")) {
    call.out += layout_text(step.value());
    return 0;
  }
  if (step->phase == StepPhase::ended)
    return call.fail("Could not get job step info: Job/step already completed");
  auto plan = plan_session(call, step.value(), step_text(step.value()));
  if (!plan) return call.fail(plan.error().message);
  plan->as = AttachAs::watcher;
  plan->label = chosen.has("label");
  plan->quiet = chosen.has("quiet");
  const Signals signals;
  SessionEnds ends = session_ends(call, step.value(), signals);
  ends.out = STDOUT_FILENO;
  ends.err = STDERR_FILENO;
  flush(call);
  return Session(std::move(plan).value(), std::move(ends)).run();
}

}  // namespace drover::slurm
