// From a node that a client sent back to what the cluster keeps of it.

#include "domain/node_labels.h"
#include "kube/object/metadata.h"
#include "kube/object/node/node_object.h"
#include "kube/object/node/taints.h"

namespace drover::kube {
namespace {

using Texts = std::map<std::string, std::string>;

// A label is people's own when the node wouldn't have it, or not so, by itself.
Texts marked_labels(const Node& node, const Value& now) {
  Node bare{.inventory = node.inventory, .devices = node.devices};
  const Texts own = labels_of(bare);
  Texts marked;
  const Object* labels = object_at(now, "metadata.labels");
  if (labels == nullptr) return marked;
  for (const auto& entry : *labels) {
    const std::string key(std::string_view(entry.key()));
    const std::string value(text(&entry.value()));
    const auto known = own.find(key);
    if (known == own.end() || known->second != value) marked[key] = value;
  }
  return marked;
}

Texts marked_annotations(const Value& now) {
  Texts marked;
  const Object* annotations = object_at(now, "metadata.annotations");
  if (annotations == nullptr) return marked;
  for (const auto& entry : *annotations) {
    const std::string_view key = entry.key();
    if (key == kDrainReasonAnnotation || key == kDrainUserAnnotation) continue;
    marked[std::string(key)] = text(&entry.value());
  }
  return marked;
}

}  // namespace

NodeChange node_change(const Node& node, const Value& was, const Value& now) {
  NodeChange change{.marks = {.labels = marked_labels(node, now),
                              .annotations = marked_annotations(now),
                              .taints = marked_taints(node, now)}};
  change.marks_changed = !(change.marks == node.marks);
  const bool closed = flag_at(now, "spec.unschedulable");
  if (closed != flag_at(was, "spec.unschedulable")) change.cordon = closed;
  return change;
}

Problems check_node_update(const Value& was, const Value& now) {
  Problems problems = check_metadata_update(was, now, NameRule::dns_subdomain);
  check_taints(problems, now);
  const Value* labels = at(now, "metadata.labels");
  constexpr std::string_view kHost = "kubernetes.io/hostname";
  const Value* host = labels == nullptr ? nullptr : member(*labels, kHost);
  if (text(host) != text_at(was, "metadata.name")) {
    problems.forbidden((Path("metadata") / "labels").key(kHost), "it is the node's name");
  }
  return problems;
}

}  // namespace drover::kube
