// A node as a Kubernetes object: what its agent found, what people wrote on it, and whether it
// takes work. One drain: cordon is drover's drain, and a node drained from either door is
// unschedulable.
#pragma once

#include <optional>
#include <string>

#include "domain/cluster.h"
#include "domain/node.h"
#include "kube/json/value.h"
#include "kube/object/problems.h"

namespace drover::kube {

inline constexpr std::string_view kDrainReasonAnnotation = "drover.dev/drain-reason";
inline constexpr std::string_view kDrainUserAnnotation = "drover.dev/drain-user";

struct NodeView {
  std::string cluster;              // tells its nodes' uids from those of other clusters
  Instant heard;                    // when its agent was last heard of
  std::string runtime;              // "containerd://1.6.20"; "" not known
  std::string version = "v1.33.0";  // that the API server gives itself
};

[[nodiscard]] Value node_object(const Node& node, const NodeView& view);

// What a client wants of a node that it has read (`was`, a node_object), changed and sent back.
struct NodeChange {
  NodeMarks marks;  // in whole, for MarkNode
  bool marks_changed = false;
  std::optional<bool> cordon;  // drain it, or take it back into use; none: as it is
};
[[nodiscard]] NodeChange node_change(const Node& node, const Value& was, const Value& now);

// Metadata, labels that people can't take from their nodes, taints.
[[nodiscard]] Problems check_node_update(const Value& was, const Value& now);

}  // namespace drover::kube
