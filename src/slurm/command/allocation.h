// A job that lives as long as its client: srun's own, and salloc's.
#pragma once

#include <optional>
#include <string>

#include "slurm/command/call.h"
#include "slurm/script/step_options.h"
#include "slurm/step/machine.h"

namespace drover::slurm {

class Allocation {
 public:
  Allocation(Call& call, const Signals& signals) : call_(call), signals_(signals) {}

  // Submits, and waits until the job runs; says Slurm's words meanwhile. An error has been said.
  [[nodiscard]] bool obtain(const api::Execute& wish, const StepOptions& options);
  [[nodiscard]] JobId job() const { return job_; }
  [[nodiscard]] const api::JobView& view() const { return view_; }
  // From here on a process beside this one tells the controller that we are still there. A client that is gone within
  // seconds needs none.
  void keep_alive();
  // The client goes, the job stays: a process of its own keeps it until it has ended.
  void leave();
  // The client is done with it.
  void end(const ExitStatus& exit);

 private:
  [[nodiscard]] bool wait_until_running(const StepOptions& options);
  [[nodiscard]] bool look();
  [[nodiscard]] bool running() const { return view_.phase == Phase::running || view_.phase == Phase::placed; }
  bool give_up(std::string_view text);
  void say(std::string_view text);

  Call& call_;
  const Signals& signals_;
  bool quiet_ = false;
  JobId job_;
  api::JobView view_;
  Helper keeper_;
};

// "srun: error: Unable to allocate resources: ..." with what drover adds to it.
[[nodiscard]] std::string refusal_lines(const Call& call, std::string_view begins, const Refusal& refusal);
[[nodiscard]] std::string unreachable_lines(const Call& call, std::string_view begins, const Error& error);
// The wish for a job without a script, which `command` is to run in.
[[nodiscard]] Result<api::Execute> allocation_wish(const Call& call, const StepOptions& options,
                                                   const std::string& default_name);
[[nodiscard]] std::string submit_line(const Call& call);
// SLURM_EXIT_ERROR, or 1.
[[nodiscard]] int error_status(const Call& call);
// Prints what is said so far; what comes after it may come late.
void flush(Call& call);

}  // namespace drover::slurm
