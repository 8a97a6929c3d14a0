// What a batch script of the Slurm door is started with: its variables (sbatch(1), OUTPUT ENVIRONMENT
// VARIABLES) and its files. Made at the controller, where the whole placement is known; the node adds
// what only it knows (HOME, the devices' own variables).
#pragma once

#include <string_view>

#include "domain/cluster.h"
#include "domain/session.h"

namespace drover::slurm {

// JobSpec::extra, what sbatch leaves for the launch.
inline constexpr std::string_view kExportEnv = "export";           // of --export, when it isn't ALL
inline constexpr std::string_view kCpusPerTaskSet = "cpus_per_task";  // "1": -c was given
inline constexpr std::string_view kGpus = "gpus";                  // --gpus as given
inline constexpr std::string_view kGpusPerNode = "gpus_per_node";
inline constexpr std::string_view kGpusPerTask = "gpus_per_task";
inline constexpr std::string_view kHint = "hint";

struct BatchInput {
  const Cluster& cluster;
  const Job& job;           // placed
  const NodeShare& share;   // of the node that is told
  const JobSpec& spec;
  std::string_view environment;  // as submitted, NUL-separated
};

// Fills in environment, arguments, work_dir and the paths of the log files.
void fill_batch(const BatchInput& input, Launch& launch);

// "2(x3),1": how Slurm writes a number per node.
[[nodiscard]] std::string compressed(const std::vector<std::uint32_t>& numbers);

}  // namespace drover::slurm
