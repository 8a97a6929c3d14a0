// A batch job's environment against that of the reference system.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "doors/golden.h"
#include "slurm/launch/environment.h"

namespace drover::slurm {
namespace {

api::JobView job(std::uint64_t id, std::vector<std::string> nodes, std::uint32_t tasks, std::uint32_t cpus) {
  api::JobView view{.id = JobId(id), .name = "wrap", .user = "root", .partition = "main", .phase = Phase::running};
  view.limit = minutes(5);
  view.nodes = nodes;
  for (const std::string& node : nodes) view.shares.push_back({.node = node, .tasks = tasks, .cpu_count = cpus});
  view.task_count = tasks * static_cast<std::uint32_t>(nodes.size());
  view.spec = JobSpec{.work_dir = "/home/alice/jobs", .submit_host = "login"};
  return view;
}

// The SLURM lines of the batch script: those before the steps' own (SLURMD_DEBUG comes first there).
std::set<std::string> golden(const std::string& beginning) {
  std::set<std::string> lines;
  for (const auto& [command, entry] : read_golden("environment.txt")) {
    if (!command.starts_with(beginning)) continue;
    for (const std::string_view line : split(entry.output, '\n')) {
      if (line.starts_with("SLURMD_DEBUG")) break;
      if (line.starts_with("SLURM")) lines.emplace(line);
    }
  }
  // Of the node (the task's process id), and of Slurm alone (its file, its own kind of id).
  std::erase_if(lines, [](const std::string& line) {
    return line.starts_with("SLURM_TASK_PID") || line.starts_with("SLURM_CONF=") ||
           line.starts_with("SLURM_JOB_SLUID");
  });
  return lines;
}

std::set<std::string> ours(const api::JobView& view, const LaunchFacts& facts) {
  std::set<std::string> lines;
  for (const std::string& line : batch_environment(view, "", facts)) {
    if (line.starts_with("SLURM") && !line.starts_with("SLURM_JOB_GPUS")) lines.insert(line);
  }
  return lines;
}

TEST(EnvironmentGolden, OneNodeWithGpus) {
  api::JobView view = job(38, {"n1"}, 2, 6);
  view.started = Instant(seconds(1796063899));
  view.request = {.tasks = 2, .cpus_per_task = 3, .memory_rule = MemoryRule::per_node, .memory = gibibytes(2)};
  view.shares[0].gpu_indexes = {0, 1};
  EXPECT_EQ(ours(view, {.cluster_name = "demo"}), golden("sbatch -W -o env.out"));
}

TEST(EnvironmentGolden, AnArrayTaskOverTwoNodes) {
  api::JobView view = job(39, {"n1", "n3"}, 2, 2);
  view.started = Instant(seconds(1796063902));
  view.array = JobId(39);
  view.task = 5;
  view.request = {.min_nodes = 2, .tasks_per_node = 2, .memory_rule = MemoryRule::per_cpu, .memory = mebibytes(1000)};
  EXPECT_EQ(ours(view, {.cluster_name = "demo", .array = ArrayPending{.total = 1, .min = 5, .max = 5}}),
            golden("sbatch -W -o env2.out"));
}

}  // namespace
}  // namespace drover::slurm
