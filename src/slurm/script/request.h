// From sbatch's options to a wish: the one place that says what each option means to drover.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/service.h"
#include "slurm/script/options.h"

namespace drover::slurm {

// What the command knows besides the options.
struct SubmitFacts {
  std::string program = "sbatch";
  std::string script;                  // its text
  std::string script_path;             // absolute; "" for --wrap and stdin
  std::string default_name;            // of the job: the script's file name, "wrap", "sbatch"
  std::vector<std::string> arguments;  // of the script
  std::string submit_line;
  std::string work_dir;  // where sbatch was called
  std::string host;
  std::uint32_t session_id = 0;
  std::uint32_t umask = 022;
  std::map<std::string, std::int64_t> rlimits;
  Environment environment;  // as exported
};

// "Batch job submission failed: ", as this command begins its word about a refusal.
[[nodiscard]] std::string_view failed_words(std::string_view program);
[[nodiscard]] Result<std::vector<GpuAsk>> gpu_asks(const std::vector<Gres>& list, std::string_view program);

[[nodiscard]] Result<api::Execute> make_submit(const SbatchOptions& options, const SubmitFacts& facts);

}  // namespace drover::slurm
