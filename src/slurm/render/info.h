// sinfo's tables, from views to bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "slurm/render/format.h"
#include "slurm/render/node_fields.h"

namespace drover::slurm {

inline constexpr std::string_view kInfoFormat = "%#P %.5a %.10l %.6D %.6t %N";
inline constexpr std::string_view kInfoLong = "%#P %.5a %.10l %.10s %.4r %.8h %.10g %.6D %.11T %.11i %N";
inline constexpr std::string_view kInfoSummary = "%#P %.5a %.10l %.16F %N";
inline constexpr std::string_view kInfoNodes = "%#N %.6D %.#P %6t";
inline constexpr std::string_view kInfoNodesLong = "%#N %.6D %.#P %.11T %4c %.8z %.6m %.8d %.6w %.8f %20E";
inline constexpr std::string_view kInfoReasons = "%20E %9u %19H %N";

struct InfoWanted {
  bool by_node = false;      // -N: one row a node and partition
  bool summary = false;      // -s: states don't separate
  bool with_reason = false;  // -R: only nodes with a reason
  bool exact = false;        // -e: sizes separate too
  std::vector<std::string> partitions;
  std::vector<std::string> nodes;
  std::vector<std::string> states;
};

[[nodiscard]] Layout node_layout(std::string_view letters);

// Rows in sinfo's order: partitions as configured, states from the busiest down, or nodes by name.
[[nodiscard]] std::vector<NodeRow> info_rows(const Layout& layout, const InfoWanted& wanted,
                                             const std::vector<api::PartitionView>& partitions,
                                             const std::vector<api::NodeView>& nodes, const Look& look);

[[nodiscard]] std::string info_table(Layout layout, const std::vector<NodeRow>& rows, const Look& look, bool header);

}  // namespace drover::slurm
