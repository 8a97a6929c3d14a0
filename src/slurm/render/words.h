// Slurm's words for drover's: states, reasons, refusals, amounts. Total switches: a new domain word
// doesn't compile until it has a Slurm word.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/views.h"
#include "domain/refusal.h"

namespace drover::slurm {

enum class JobState : std::uint8_t {
  pending,
  configuring,
  running,
  completing,
  completed,
  failed,
  cancelled,
  timeout,
  out_of_memory,
  node_fail,
  preempted,
  deadline,
  requeued
};
[[nodiscard]] JobState job_state(Phase phase, Cause cause);
[[nodiscard]] std::string_view state_word(JobState state);  // "PENDING"
[[nodiscard]] std::string_view state_code(JobState state);  // "PD"
// By either, any case; nothing for what is no state.
[[nodiscard]] std::optional<JobState> state_of(std::string_view text);
// The phases (and causes of ended jobs) that a state comprises.
[[nodiscard]] std::vector<Phase> phases_of(JobState state);

// REASON: of a job that waits, why; of one that ended, how, as squeue and scontrol print it.
[[nodiscard]] std::string reason_text(const api::JobView& job);
[[nodiscard]] std::string_view reason_word(Reason reason);

// As Slurm counts it: running out of memory is signal 125, a kill by drover itself none.
[[nodiscard]] ExitStatus shown_exit(Cause cause, const ExitStatus& exit);
// The same as text: "3:0", "0:9", "0:125".
[[nodiscard]] std::string exit_text(const ExitStatus& exit);  // as it is
[[nodiscard]] std::string exit_text(Cause cause, const ExitStatus& exit);

// "Requested node configuration is not available": the words after "Batch job submission failed: "
// and in front of a job's id.
[[nodiscard]] std::string_view refusal_words(RefusalCode code);
// What drover adds on a second line: amounts and the nearest request that fits; "" for nothing.
[[nodiscard]] std::string refusal_hint(const Refusal& refusal);

// "cpu=8,mem=64G,node=1,billing=8,gres/gpu=4".
struct Tres {
  std::uint64_t cpus = 0;
  std::int64_t memory_mib = 0;
  std::uint64_t nodes = 0;
  std::uint64_t billing = 0;
  std::uint64_t gpus = 0;
};
[[nodiscard]] std::string print_tres(const Tres& tres);
[[nodiscard]] std::string print_tres_sorted(const Tres& tres);  // sacct's order, by name

// "gres/gpu:a100:4"; "" for none.
[[nodiscard]] std::string gpu_asks_text(std::span<const GpuAsk> asks);
[[nodiscard]] std::uint64_t gpu_total(std::span<const GpuAsk> asks);

[[nodiscard]] std::string dependency_text(const Dependency& dependency);  // "afterok:2(unfulfilled)"

[[nodiscard]] constexpr std::int64_t mib(Bytes bytes) { return bytes.count() >> 20; }

}  // namespace drover::slurm
