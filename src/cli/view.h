// What `drover up` and `drover status` show of a cluster.
#pragma once

#include <string>
#include <vector>

#include "api/query.h"
#include "api/views.h"
#include "cli/table.h"

namespace drover::cli {

struct ClusterView {
  api::Overview overview;
  std::vector<api::NodeView> nodes;
};

// One row a node: name, state, CPUs, memory, GPUs.
[[nodiscard]] std::string node_table(const ClusterView& view, const Ink& ink);
// What is not as strict as it could be, one sentence a line; each with the nodes it is true of.
[[nodiscard]] std::string limitations(const ClusterView& view);
[[nodiscard]] std::string status_text(const ClusterView& view, const Ink& ink);

// 512000 MiB -> "500 GB".
[[nodiscard]] std::string size_text(Bytes size);

}  // namespace drover::cli
