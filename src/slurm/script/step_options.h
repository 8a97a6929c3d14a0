// Everything srun and salloc can be asked for: SLURM_* (SALLOC_*) environment < command line. What
// they share with sbatch is read by sbatch's own setters.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "domain/step.h"
#include "slurm/script/options.h"
#include "slurm/script/options_table.h"

namespace drover::slurm {

struct StepOptions {
  SbatchOptions job;
  std::map<std::string, Source, std::less<>> sources;  // by long name

  // How the step lies in its job.
  std::optional<std::uint64_t> job_id;
  std::optional<std::uint32_t> relative;
  bool exact = false;
  bool overlap = false;
  bool no_gpus = false;  // --gres=none, --gpus=0
  std::optional<Distribution> distribution;
  std::uint32_t plane = 0;
  std::string cpu_bind;
  std::string gpu_bind;

  // What the client does.
  bool label = false;
  bool unbuffered = false;
  bool pty = false;
  bool multi_prog = false;
  bool quit_on_interrupt = false;
  bool disable_status = false;
  std::optional<std::uint32_t> immediate_s;  // 0: not a moment
  std::uint32_t wait_s = 0;                  // after the first task's end; 0: for ever
  std::optional<bool> kill_on_bad_exit;
  std::string mpi = "none";

  // salloc's own.
  bool no_shell = false;
  bool bell = false;
  std::optional<int> kill_command;  // the signal; none: as for an interactive shell

  [[nodiscard]] bool given(std::string_view name) const {  // on the command line
    const auto found = sources.find(name);
    return found != sources.end() && found->second == Source::command_line;
  }
};

using StepSetter = Status (*)(StepOptions& options, const Setting& setting);

// When an option's variable counts: inside a job many of them tell of the job, not of the step.
enum class Counts : std::uint8_t { always, alone };

struct StepRow {
  std::string_view name;
  char letter = 0;
  Takes takes = Takes::nothing;
  std::string_view variable;  // without the program's prefix; "": none
  StepSetter set = nullptr;
  bool shared = false;  // letter, value and setter are those of sbatch's row
  Counts counts = Counts::always;
  std::string_view instead;  // without a setter: refused by name, and what to do
};
struct StepRows {
  std::string_view prefix;  // of the variables: "SLURM_", "SALLOC_"
  std::span<const StepRow> rows;
};
[[nodiscard]] StepRows srun_rows();
[[nodiscard]] StepRows salloc_rows();

struct StepLine {
  StepOptions options;
  std::vector<std::string> command;  // from the first word on that is no option
};
// `inside`: a step of a job that is there already.
[[nodiscard]] Result<StepLine> parse_step_line(const StepRows& table,
                                               const std::vector<std::string>& words,
                                               const Environment& environment, bool inside,
                                               const OptionContext& context);

// The programs of a --multi-prog file: "0-2,5 prog args", "* prog"; every task must be named once.
[[nodiscard]] Result<std::vector<StepProgram>> parse_multi_prog(std::string_view text,
                                                                std::uint32_t tasks);

}  // namespace drover::slurm
