// From a placed step of this door to what one of its nodes is told to start: each task's command,
// environment, files, CPUs and GPUs.
#pragma once

#include <string>
#include <string_view>

#include "domain/cluster.h"
#include "domain/step.h"
#include "domain/step_launch.h"
#include "slurm/script/logname.h"

namespace drover::slurm {

// Fills in everything that comes from the spec, and the tasks. `share` is one of step.shares; user,
// ticket, amounts, limits and the job's own part are the caller's.
void fill_step(const Cluster& cluster, const Job& job, const Step& step, const StepSpec& spec,
               const StepShare& share, StepLaunch& launch);

// The words of StepSpec::extra, which srun writes and fill_step reads.
inline constexpr std::string_view kLaunchAddress =
    "launch_address";  // of the machine where srun runs

// A file name with everything but the task and its node filled in. A pattern that names neither is
// one file of the whole step, which srun itself opens.
[[nodiscard]] bool is_per_task(std::string_view pattern);

}  // namespace drover::slurm
