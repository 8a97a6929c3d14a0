#include "cli/view.h"

#include <algorithm>
#include <map>

#include "base/text.h"

namespace drover::cli {
namespace {

std::string used_of(std::uint64_t used, std::uint64_t all) { return std::to_string(used) + "/" + std::to_string(all); }

std::string state_of(const api::NodeView& view, const Ink& ink) {
  const Node& node = view.node;
  if (node.contact == Contact::lost) return ink.bad("lost");
  if (node.drain) return ink.warn(node.drain->down ? "down" : view.jobs.empty() ? "drained" : "draining");
  return view.jobs.empty() ? ink.good("idle") : ink.good("busy");
}

std::string note_of(const api::NodeView& view) {
  if (view.node.contact == Contact::lost) return "no contact; its jobs are taken to be running";
  return view.node.drain ? printable(view.node.drain->reason, 60) : "";
}

struct Group {
  std::uint32_t used = 0;
  std::uint32_t all = 0;
  std::uint32_t sick = 0;
  bool declared = false;
  Bytes memory;
};

// "2/8 a100 80 GB declared" for each model.
std::string gpus_of(const api::NodeView& view, const Ink& ink) {
  std::map<std::string, Group> groups;
  for (const Device& device : view.node.devices) {
    Group& group = groups[device.info.model];
    ++group.all;
    if (device.used > Milli{}) ++group.used;
    if (!device.info.healthy) ++group.sick;
    group.declared = group.declared || device.info.declared;
    group.memory = device.info.memory;
  }
  std::string text;
  for (const auto& [model, group] : groups) {
    if (!text.empty()) text += ", ";
    text += used_of(group.used, group.all) + " " + printable(model, 40) + " " + size_text(group.memory);
    if (group.declared) text += ink.dim(" declared");
    if (group.sick > 0) text += ink.bad(" (" + std::to_string(group.sick) + " unhealthy)");
  }
  return text.empty() ? "-" : text;
}

std::string names_of(const std::vector<std::string>& names, std::size_t all) {
  if (names.size() == all) return all == 1 ? names[0] : "all nodes";
  constexpr std::size_t kShown = 6;
  const std::span<const std::string> shown(names.data(), std::min(names.size(), kShown));
  return join(shown, ", ") + (names.size() > kShown ? ", ..." : "");
}

std::string plural(std::uint64_t count, std::string_view one, std::string_view many) {
  return std::to_string(count) + " " + std::string(count == 1 ? one : many);
}

}  // namespace

std::string size_text(Bytes size) {
  constexpr std::int64_t kMib = 1 << 20;
  const std::int64_t mib = size.count() / kMib;
  if (mib < 1024) return std::to_string(mib) + " MB";
  const std::int64_t tenths = (mib * 10 + 512) / 1024;
  return std::to_string(tenths / 10) + (tenths % 10 == 0 ? "" : "." + std::to_string(tenths % 10)) + " GB";
}

std::string node_table(const ClusterView& view, const Ink& ink) {
  std::vector<Row> rows{{ink.dim("node"), ink.dim("state"), ink.dim("CPUs"), ink.dim("memory"), ink.dim("GPUs"), ""}};
  for (const api::NodeView& node : view.nodes) {
    rows.push_back({node.node.name(), state_of(node, ink), used_of(node.cpus_used, node.node.inventory.cpus),
                    size_text(node.memory_used) + "/" + size_text(node.node.inventory.memory), gpus_of(node, ink),
                    note_of(node)});
  }
  return table(rows);
}

std::string limitations(const ClusterView& view) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<std::string>> nodes;
  for (const api::NodeView& node : view.nodes) {
    for (const std::string& sentence : node.node.inventory.limitations) {
      if (!nodes.contains(sentence)) order.push_back(sentence);
      nodes[sentence].push_back(node.node.name());
    }
  }
  std::string text;
  for (const std::string& sentence : order) {
    text += "  " + names_of(nodes[sentence], view.nodes.size()) + ": " + printable(sentence, 300) + "\n";
  }
  return text;
}

std::string status_text(const ClusterView& view, const Ink& ink) {
  const api::Overview& o = view.overview;
  std::string text = "cluster " + ink.bold(printable(o.config.settings.cluster_name, 63)) + " on " +
                     printable(o.host, 63) + ", drover " + printable(o.version, 40) + ": " +
                     plural(o.nodes, "node", "nodes") +
                     (o.nodes_up == o.nodes ? "" : ink.bad(" (" + std::to_string(o.nodes - o.nodes_up) + " lost)")) +
                     ", jobs: " + std::to_string(o.jobs_active) + " running, " + std::to_string(o.jobs_waiting) +
                     " waiting\n\n" + node_table(view, ink);
  if (o.low_space) text += "\n" + ink.bad("The disk is nearly full: new jobs are refused until there is space.") + "\n";
  const std::string limits = limitations(view);
  if (!limits.empty()) text += "\nWhat is off here:\n" + limits;
  return text + "\nstate in " + printable(o.state_dir, 400) + "\n";
}

}  // namespace drover::cli
