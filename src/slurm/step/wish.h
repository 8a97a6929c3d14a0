// From srun's options to a step: the one place that says what each of them means to drover.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "domain/step.h"
#include "slurm/script/step_options.h"

namespace drover::slurm {

// What the command knows besides the options.
struct StepFacts {
  bool inside = false;  // a step of a job that is there already
  std::vector<std::string> command;
  std::string multi_prog;  // text of the --multi-prog file, when there is one
  std::string work_dir;    // where srun was called
  std::string host;
  std::string launch_address;
  std::string submit_line;
  std::uint32_t umask = 022;
  std::map<std::string, std::int64_t> rlimits;
  Environment environment;
  std::uint32_t rows = 24;  // of the terminal
  std::uint32_t columns = 80;
  std::string ticket;
};

// Where one of the three streams goes.
struct StreamPlan {
  bool none = false;
  std::optional<std::uint32_t> task;  // that one alone
  std::string file;                   // a pattern that srun itself opens; "": srun's own stream
};

struct MadeStep {
  StepWish wish;
  StepSpec spec;
  StreamPlan in;
  StreamPlan out;
  StreamPlan err;
  std::vector<std::string> warnings;  // without "srun: Warning: "
};
[[nodiscard]] Result<MadeStep> make_step(const StepOptions& options, const StepFacts& facts);

// "-N2 -n1" -> one node, with a word about it.
void fewer_nodes_than_tasks(StepOptions& options, std::vector<std::string>& warnings);

// "/usr/bin/env" -> "env".
[[nodiscard]] std::string command_name(const std::vector<std::string>& command);

}  // namespace drover::slurm
