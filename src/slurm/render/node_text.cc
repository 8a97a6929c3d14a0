#include "slurm/render/node_text.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>

#include "base/text.h"
#include "slurm/script/array.h"

namespace drover::slurm {
namespace {

constexpr std::array<std::string_view, 12> kStateWords{"idle",  "alloc",    "allocated", "mix",  "mixed",   "down",
                                                       "drain", "draining", "drained",   "drng", "planned", "plnd"};

std::string_view base_word(NodeBase base, bool brief) {
  switch (base) {
    case NodeBase::down:
      return "down";
    case NodeBase::idle:
      return "idle";
    case NodeBase::allocated:
      return brief ? "alloc" : "allocated";
    case NodeBase::mixed:
      return brief ? "mix" : "mixed";
  }
  return "";
}

std::string worded(const NodeState& state, bool brief) {
  std::string text;
  if (state.draining && state.base != NodeBase::down) {
    text = state.busy ? (brief ? "drng" : "draining") : (brief ? "drain" : "drained");
  } else if (state.planned && state.base == NodeBase::idle) {
    text = brief ? "plnd" : "planned";
  } else {
    text = base_word(state.base, brief);
  }
  if (state.lost) return text + "*";
  return state.planned && !state.draining && state.base != NodeBase::idle ? text + "-" : text;
}

// Devices by kind and model, in the order of the models' first devices.
struct Group {
  std::string kind;
  std::string model;
  std::vector<std::uint32_t> used;
  std::uint32_t total = 0;
};
std::vector<Group> device_groups(const api::NodeView& view) {
  std::vector<Group> groups;
  for (const Device& device : view.node.devices) {
    auto group = std::ranges::find_if(
        groups, [&](const Group& g) { return g.kind == device.info.kind && g.model == device.info.model; });
    if (group == groups.end()) group = groups.insert(groups.end(), {device.info.kind, device.info.model, {}, 0});
    if (device.info.healthy) ++group->total;
    if (device.used.count() > 0) group->used.push_back(device.info.index);
  }
  return groups;
}

std::string group_name(const Group& group) {
  return group.model.empty() ? group.kind + ":" : group.kind + ":" + group.model + ":";
}

std::uint64_t gpus(const api::NodeView& view, bool used_only) {
  return static_cast<std::uint64_t>(std::ranges::count_if(view.node.devices, [&](const Device& device) {
    return device.info.kind == "gpu" && (used_only ? device.used.count() > 0 : device.info.healthy);
  }));
}

}  // namespace

int NodeState::rank() const {
  const int base_rank = static_cast<int>(base);
  return base_rank + (draining ? 16 : 0) + (lost ? 32 : 0) + (planned ? 64 : 0);
}

NodeState node_state(const api::NodeView& view) {
  NodeState state;
  const Node& node = view.node;
  state.lost = node.contact == Contact::lost;
  state.draining = node.drain.has_value() && !node.drain->down;
  state.planned = view.planned;
  state.busy = view.cpus_used > 0 || !view.jobs.empty();
  if (state.lost || (node.drain && node.drain->down)) {
    state.base = NodeBase::down;
    state.planned = false;
  } else if (view.exclusive || (view.cpus_used > 0 && view.cpus_used >= node.inventory.cpus)) {
    state.base = NodeBase::allocated;
  } else if (state.busy) {
    state.base = NodeBase::mixed;
  }
  return state;
}

std::string short_state(const NodeState& state) { return worded(state, true); }
std::string long_state(const NodeState& state) { return worded(state, false); }

std::string flags_state(const NodeState& state) {
  std::string text(base_word(state.base, false));
  std::ranges::transform(text, text.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  if (state.draining) text += "+DRAIN";
  if (state.lost) text += "+NOT_RESPONDING";
  if (state.planned) text += "+PLANNED";
  return text;
}

bool is_state_word(std::string_view word) {
  return std::ranges::any_of(kStateWords, [&](std::string_view known) { return iequals(known, word); }) ||
         iequals(word, "no_respond") || iequals(word, "unknown") || iequals(word, "fail") || iequals(word, "maint");
}

bool state_matches(const NodeState& state, std::string_view word) {
  const std::string wanted = lower(word);
  const bool drains = state.draining;
  if (wanted == "idle") return state.base == NodeBase::idle && !drains;
  if (wanted == "alloc" || wanted == "allocated") return state.base == NodeBase::allocated && !drains;
  if (wanted == "mix" || wanted == "mixed") return state.base == NodeBase::mixed && !drains;
  if (wanted == "down") return state.base == NodeBase::down;
  if (wanted == "drain") return drains;
  if (wanted == "drained") return drains && !state.busy;
  if (wanted == "draining" || wanted == "drng") return drains && state.busy;
  if (wanted == "planned" || wanted == "plnd") return state.planned;
  if (wanted == "no_respond") return state.lost;
  return false;
}

std::string gres_text(const api::NodeView& view) {
  std::string text;
  for (const Group& group : device_groups(view)) {
    text += (text.empty() ? "" : ",") + group_name(group) + std::to_string(group.total);
  }
  return or_null(text);
}

std::string gres_used_text(const api::NodeView& view) {
  std::string text;
  for (Group& group : device_groups(view)) {
    std::ranges::sort(group.used);
    text += (text.empty() ? "" : ",") + group_name(group) + std::to_string(group.used.size()) +
            "(IDX:" + (group.used.empty() ? "N/A" : print_tasks(group.used, 0)) + ")";
  }
  return or_null(text);
}

std::string features_text(const api::NodeView& view) { return or_null(join(view.node.inventory.features, ",")); }

Tres configured_tres(const api::NodeView& view) {
  const NodeInventory& about = view.node.inventory;
  return {.cpus = about.cpus, .memory_mib = mib(about.memory), .billing = about.cpus, .gpus = gpus(view, false)};
}

Tres allocated_tres(const api::NodeView& view) {
  return {.cpus = view.cpus_used, .memory_mib = mib(view.memory_used), .gpus = gpus(view, true)};
}

std::string load_text(std::uint32_t load_centi) {
  char text[32];
  std::snprintf(text, sizeof text, "%u.%02u", load_centi / 100, load_centi % 100);
  return text;
}

CpuCounts& CpuCounts::operator+=(const CpuCounts& more) {
  allocated += more.allocated;
  idle += more.idle;
  other += more.other;
  total += more.total;
  return *this;
}

std::string CpuCounts::text() const {
  return std::to_string(allocated) + "/" + std::to_string(idle) + "/" + std::to_string(other) + "/" +
         std::to_string(total);
}

CpuCounts cpu_counts(const api::NodeView& view) {
  const std::uint32_t total = view.node.inventory.cpus;
  const std::uint32_t used = view.exclusive ? total : std::min(view.cpus_used, total);
  CpuCounts counts{.allocated = used, .total = total};
  (view.node.open() ? counts.idle : counts.other) = total - used;
  return counts;
}

}  // namespace drover::slurm
