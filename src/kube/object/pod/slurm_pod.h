// A Slurm job as a read-only pod, so that kubectl shows what holds the machines.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "domain/cluster.h"
#include "kube/json/value.h"
#include "kube/object/pod/status.h"

namespace drover::kube {

inline constexpr std::string_view kSlurmSpace = "slurm-jobs";

struct SlurmPodView {
  std::string space{kSlurmSpace};
  std::string cluster;  // tells its pods' uids from those of other clusters
  PodView pod;          // why it waits
};

// Named job-ID, or job-ID-TASK for one task of an array; the record that stands for all tasks of an
// array that still wait is job-ID with the annotation drover.dev/waiting-tasks. One container
// "job"; its requests are those on the job's first node, which is spec.nodeName; all nodes are in
// drover.dev/nodes.
[[nodiscard]] Value pod_of_slurm_job(const Cluster& cluster, const Job& job,
                                     const SlurmPodView& view);

[[nodiscard]] std::string slurm_pod_name(const Job& job);

// The job of such a name; nothing for other names.
struct SlurmPodName {
  JobId job;  // of the array, where there is a task
  std::uint32_t task = kNoTask;
};
[[nodiscard]] std::optional<SlurmPodName> slurm_pod_of(std::string_view name);

}  // namespace drover::kube
