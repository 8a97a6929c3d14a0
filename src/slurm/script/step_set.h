// Setters of what srun and salloc have beyond sbatch.
#pragma once

#include "slurm/script/step_options.h"

namespace drover::slurm::setters {

template <auto Member>
Status step_flag(StepOptions& options, const Setting&) {
  options.*Member = true;
  return Done{};
}
Status step_job_id(StepOptions& options, const Setting& setting);
Status step_relative(StepOptions& options, const Setting& setting);
Status step_gres(StepOptions& options, const Setting& setting);
Status step_gpus(StepOptions& options, const Setting& setting);
Status step_exclusive(StepOptions& options, const Setting& setting);
Status step_distribution(StepOptions& options, const Setting& setting);
Status step_cpu_bind(StepOptions& options, const Setting& setting);
Status step_gpu_bind(StepOptions& options, const Setting& setting);
Status step_immediate(StepOptions& options, const Setting& setting);
Status step_wait(StepOptions& options, const Setting& setting);
Status step_kill_on_bad_exit(StepOptions& options, const Setting& setting);
Status step_mpi(StepOptions& options, const Setting& setting);
Status step_pty(StepOptions& options, const Setting& setting);
Status salloc_bell(StepOptions& options, const Setting& setting);
Status salloc_no_bell(StepOptions& options, const Setting& setting);
Status salloc_kill_command(StepOptions& options, const Setting& setting);

}  // namespace drover::slurm::setters
