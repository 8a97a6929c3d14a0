// Nodes and partitions as JSON: scontrol show nodes|partition --json, sinfo --json.
#pragma once

#include <string>
#include <vector>

#include "api/views.h"
#include "slurm/render/info.h"

namespace drover::slurm {

[[nodiscard]] std::string nodes_json(const std::vector<api::NodeView>& nodes, const Look& look);
[[nodiscard]] std::string partitions_json(const std::vector<api::PartitionView>& partitions, const Look& look);
// A group of equal nodes of one partition each.
[[nodiscard]] std::string info_json(const std::vector<NodeRow>& rows);

// The layout whose columns tell groups apart there.
inline constexpr std::string_view kInfoJson = "%P %t %c %m %z %d %G %f %E";

}  // namespace drover::slurm
