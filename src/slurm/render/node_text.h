// What sinfo and scontrol say of a node.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "api/views.h"
#include "slurm/render/job_text.h"

namespace drover::slurm {

enum class NodeBase : std::uint8_t { down, idle, allocated, mixed };
struct NodeState {
  NodeBase base = NodeBase::idle;
  bool draining = false;  // drained or about to be
  bool lost = false;      // "*": no contact
  bool planned = false;   // "-": kept for a job that waits
  bool busy = false;
  [[nodiscard]] int rank() const;  // the larger, the further up in sinfo
  friend auto operator<=>(const NodeState&, const NodeState&) = default;
};
[[nodiscard]] NodeState node_state(const api::NodeView& view);

[[nodiscard]] std::string short_state(const NodeState& state);  // "mix-", "drain", "down*"
[[nodiscard]] std::string long_state(const NodeState& state);   // "mixed-", "drained"
[[nodiscard]] std::string flags_state(const NodeState& state);  // "MIXED+PLANNED", as scontrol says it
// "idle", "alloc", "drain", "down*" ...: does sinfo's -t word mean this node?
[[nodiscard]] bool state_matches(const NodeState& state, std::string_view word);
[[nodiscard]] bool is_state_word(std::string_view word);

[[nodiscard]] std::string gres_text(const api::NodeView& view);       // "gpu:a100:8", "(null)"
[[nodiscard]] std::string gres_used_text(const api::NodeView& view);  // "gpu:a100:8(IDX:0-7)"
[[nodiscard]] std::string features_text(const api::NodeView& view);
[[nodiscard]] Tres configured_tres(const api::NodeView& view);
[[nodiscard]] Tres allocated_tres(const api::NodeView& view);
[[nodiscard]] std::string load_text(std::uint32_t load_centi);  // "0.71"

// CPUs: allocated, idle, other, total.
struct CpuCounts {
  std::uint64_t allocated = 0, idle = 0, other = 0, total = 0;
  CpuCounts& operator+=(const CpuCounts& more);
  [[nodiscard]] std::string text() const;  // "41/23/0/64"
};
[[nodiscard]] CpuCounts cpu_counts(const api::NodeView& view);

}  // namespace drover::slurm
