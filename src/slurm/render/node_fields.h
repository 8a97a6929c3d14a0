// The columns of sinfo. A row is a group of nodes of a partition that look alike.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slurm/render/node_text.h"

namespace drover::slurm {

struct NodeRow {
  const api::PartitionView* partition = nullptr;  // nothing where no partition is shown
  std::vector<const api::NodeView*> nodes;        // at least one, unless a partition has none
  NodeState state;
};

struct NodeField {
  char letter = 0;        // of -o
  std::string_view name;  // of -O, lower case
  std::string_view header;
  std::string (*text)(const NodeRow& row, const Look& look) = nullptr;
  // Nodes with another text stand in another row (state, features, GRES, reason ...).
  bool separates = false;
  bool of_partition = false;
};

[[nodiscard]] std::span<const NodeField> node_fields();
[[nodiscard]] std::optional<std::size_t> node_field_by_letter(char letter);
[[nodiscard]] std::optional<std::size_t> node_field_by_name(std::string_view name);

}  // namespace drover::slurm
