#include "slurm/render/info.h"

#include <algorithm>
#include <map>

#include "base/name_order.h"
#include "base/text.h"
#include "slurm/script/hostlist.h"

namespace drover::slurm {
namespace {

std::string all_letters() {
  std::string format;
  for (const NodeField& field : node_fields()) {
    if (field.letter == 0) continue;
    if (!format.empty()) format += '|';
    format += std::string("%") + field.letter;
  }
  return format;
}

bool holds(const std::vector<std::string>& list, std::string_view name) {
  return list.empty() || std::ranges::find(list, name) != list.end();
}

bool wanted_node(const InfoWanted& wanted, const api::NodeView& node) {
  if (!holds(wanted.nodes, node.node.name())) return false;
  if (wanted.with_reason && (!node.node.drain || node.node.drain->reason.empty())) return false;
  const NodeState state = node_state(node);
  return wanted.states.empty() ||
         std::ranges::any_of(wanted.states, [&](const std::string& word) { return state_matches(state, word); });
}

// What must be equal for two nodes to share a row.
class Grouping {
 public:
  Grouping(const Layout& layout, const InfoWanted& wanted, const Look& look) : wanted_(wanted), look_(look) {
    for (const Column& column : layout.columns) {
      if (!column.field) continue;
      const NodeField& field = node_fields()[*column.field];
      partitions_shown_ |= field.of_partition;
      const bool size = field.letter == 'c' || field.letter == 'm' || field.letter == 'd' || field.letter == 'z' ||
                        field.letter == 'X' || field.letter == 'Y' || field.letter == 'Z';
      if ((field.separates && !wanted.summary) || (size && wanted.exact)) fields_.push_back(&field);
    }
  }
  [[nodiscard]] bool partitions_shown() const { return partitions_shown_; }

  [[nodiscard]] std::string key(const api::PartitionView* partition, const api::NodeView& node) const {
    if (wanted_.by_node) return node.node.name();
    const NodeRow alone{.partition = partition, .nodes = {&node}, .state = node_state(node)};
    std::string key;
    for (const NodeField* field : fields_) key += field->text(alone, look_) + '\0';
    return key;
  }

 private:
  const InfoWanted& wanted_;
  const Look& look_;
  bool partitions_shown_ = false;
  std::vector<const NodeField*> fields_;
};

void add_rows(std::vector<NodeRow>& rows, const Grouping& grouping, const api::PartitionView* partition,
              const std::vector<const api::NodeView*>& nodes) {
  std::map<std::string, std::size_t> known;
  for (const api::NodeView* node : nodes) {
    const auto [found, added] = known.emplace(grouping.key(partition, *node), rows.size());
    if (added) rows.push_back({.partition = partition, .nodes = {}, .state = node_state(*node)});
    rows[found->second].nodes.push_back(node);
  }
}

}  // namespace

Layout node_layout(std::string_view letters) {
  const std::string all = letters == "%all" ? all_letters() : std::string(letters);
  return parse_letters(all, node_field_by_letter, "node");
}

std::vector<NodeRow> info_rows(const Layout& layout, const InfoWanted& wanted,
                               const std::vector<api::PartitionView>& partitions,
                               const std::vector<api::NodeView>& nodes, const Look& look) {
  const Grouping grouping(layout, wanted, look);
  std::vector<NodeRow> rows;
  std::vector<const api::NodeView*> members;
  if (!grouping.partitions_shown()) {
    for (const api::NodeView& node : nodes) {
      const bool inside =
          wanted.partitions.empty() || std::ranges::any_of(node.partitions, [&](const std::string& name) {
            return holds(wanted.partitions, name);
          });
      if (inside && wanted_node(wanted, node)) members.push_back(&node);
    }
    add_rows(rows, grouping, nullptr, members);
  }
  for (const api::PartitionView& partition : partitions) {
    if (!grouping.partitions_shown() || !holds(wanted.partitions, partition.partition.name)) continue;
    members.clear();
    for (const api::NodeView& node : nodes) {
      if (holds(node.partitions, partition.partition.name) && !node.partitions.empty() && wanted_node(wanted, node)) {
        members.push_back(&node);
      }
    }
    if (members.empty() && wanted.states.empty() && wanted.nodes.empty() && !wanted.by_node && !wanted.with_reason) {
      rows.push_back({.partition = &partition});
      continue;
    }
    const auto first = static_cast<std::ptrdiff_t>(rows.size());
    add_rows(rows, grouping, &partition, members);
    std::stable_sort(rows.begin() + first, rows.end(),
                     [](const NodeRow& a, const NodeRow& b) { return a.state.rank() > b.state.rank(); });
  }
  if (wanted.by_node) {
    std::ranges::stable_sort(rows, [](const NodeRow& a, const NodeRow& b) {
      const std::string& x = a.nodes.front()->node.name();
      const std::string& y = b.nodes.front()->node.name();
      if (x != y) return name_less(x, y);
      return a.partition != nullptr && b.partition != nullptr &&
             a.partition->partition.name < b.partition->partition.name;
    });
  }
  return rows;
}

std::string info_table(Layout layout, const std::vector<NodeRow>& rows, const Look& look, bool header) {
  constexpr std::size_t kLeastAutomatic = 9;
  for (Column& column : layout.columns) {
    if (!column.automatic || !column.field) continue;
    column.width = kLeastAutomatic;
    for (const NodeRow& row : rows) {
      column.width = std::max(column.width, node_fields()[*column.field].text(row, look).size());
    }
  }
  std::string text;
  const auto line = [&](const auto& cell) {
    text += layout.before;
    for (const Column& column : layout.columns) append_cell(text, column, column.field ? cell(*column.field) : "");
    text += '\n';
  };
  if (header) line([](std::size_t field) { return std::string(node_fields()[field].header); });
  for (const NodeRow& row : rows) line([&](std::size_t field) { return node_fields()[field].text(row, look); });
  return text;
}

}  // namespace drover::slurm
