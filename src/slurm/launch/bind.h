// Which of a step's CPUs and GPUs on a node each of its tasks there may use: --cpu-bind, --gpu-bind
// and their defaults.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "domain/step.h"

namespace drover::slurm {

// "[quiet|verbose][,TYPE[:LIST]]" in parts.
struct BindWords {
  bool verbose = false;
  std::string type;               // lower case; "": the default
  std::vector<std::string> list;  // with 0x2*3 written out three times
};
// --cpu-bind: none, rank, threads, cores, map_cpu:LIST, mask_cpu:LIST. Anything else that Slurm has
// is refused by name; the message has no prefix.
[[nodiscard]] Result<BindWords> parse_cpu_bind(std::string_view text);
// --gpu-bind: none, closest, single:N, per_task:N, map_gpu:LIST, mask_gpu:LIST.
[[nodiscard]] Result<BindWords> parse_gpu_bind(std::string_view text);

// A step's part of a node, for one of its tasks there.
struct BindPlace {
  std::vector<std::uint32_t> cpus;  // of the step, rising
  std::uint32_t tasks = 1;          // of the step on this node
  std::uint32_t local = 0;          // which of them, from 0
};
// Empty: all of the step's. Numbers of map_cpu and mask_cpu count along the step's CPUs, so that on
// a whole node they are the machine's own.
[[nodiscard]] std::vector<std::uint32_t> task_cpus(const StepRequest& request,
                                                   const BindWords& words, const BindPlace& place);

struct BindGpu {
  std::int32_t numa = -1;
};
// Places in `gpus` (the step's on the node, in index order) that a task may use. `socket`: where
// its CPUs are, -1 unknown.
[[nodiscard]] std::vector<std::size_t> task_gpus(const StepRequest& request, const BindWords& words,
                                                 const std::vector<BindGpu>& gpus,
                                                 std::uint32_t local, std::int32_t socket);

// "0x3": bit n is CPU n.
[[nodiscard]] std::string cpu_mask(const std::vector<std::uint32_t>& cpus);

}  // namespace drover::slurm
