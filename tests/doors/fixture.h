// The reference cluster and its jobs (tests/doors/slurm) as views.
#pragma once

#include <vector>

#include "api/views.h"

namespace drover::fixture {

inline constexpr std::int64_t kStart = 1796063262;  // 2026-11-30T18:27:42 UTC
inline constexpr std::int64_t kNow = kStart + 9;

[[nodiscard]] std::vector<api::JobView> queue_jobs();  // all, ended ones too, by id
[[nodiscard]] std::vector<api::NodeView> nodes();
[[nodiscard]] std::vector<api::PartitionView> partitions();
[[nodiscard]] Config config();

}  // namespace drover::fixture
