// From a step that the controller has placed to a session with its nodes.
#pragma once

#include <string>

#include "slurm/command/call.h"
#include "slurm/step/machine.h"
#include "slurm/step/session.h"

namespace drover::slurm {

// The step's view; an error when there is none. Waits a moment for one that was made just now.
[[nodiscard]] Result<api::StepView> find_step(Call& call, JobId job, std::uint32_t step, bool just_made);
// Who runs what, and where to connect. An error: a part is on
// another machine, and there is no way to it from here.
[[nodiscard]] Result<SessionPlan> plan_session(Call& call, const api::StepView& step, std::string shown);
// What a session asks of the controller and of the machine; streams are left to the caller.
[[nodiscard]] SessionEnds session_ends(Call& call, const api::StepView& step, const Signals& signals);

[[nodiscard]] std::vector<std::uint32_t> numbers_of(const std::vector<drover::TaskRange>& ranges);
// "17.0", of an array's task "39_5.0".
[[nodiscard]] std::string step_text(const api::StepView& step);

}  // namespace drover::slurm
