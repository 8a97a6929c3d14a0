// The environment of a batch job: what the submitter passes on (--export) and what the job is told
// about itself (SLURM_*).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/views.h"
#include "slurm/script/options.h"

namespace drover::slurm {

// What --export lets through.
struct Exported {
  Environment variables;
  bool with_login = false;  // NONE: the node's login environment, as --get-user-env
};
[[nodiscard]] Result<Exported> exported(const std::optional<std::string>& export_words,
                                        const Environment& environment, std::string_view program = "sbatch");

// NAME=value, each followed by a NUL.
[[nodiscard]] std::string encode_environment(const Environment& environment);
[[nodiscard]] Environment decode_environment(std::string_view text);

struct LaunchFacts {
  std::string cluster_name;
  std::optional<ArrayPending> array;  // the whole array's, for a job that is one of its tasks
};

// Complete for the script on the job's first node, but for what only the node knows (HOME, PATH of a
// login, CUDA_VISIBLE_DEVICES, SLURM_TASK_PID). `job` has its spec, shares and request.
[[nodiscard]] std::vector<std::string> batch_environment(const api::JobView& job, std::string_view submitted,
                                                         const LaunchFacts& facts);

// {2,2,2,1} -> "2(x3),1".
[[nodiscard]] std::string repeated(const std::vector<std::uint32_t>& counts);

}  // namespace drover::slurm
