#include "kube/object/node/node_object.h"

#include "domain/node_labels.h"
#include "kube/object/node/node_status.h"
#include "kube/object/node/taints.h"
#include "kube/object/times.h"
#include "kube/object/uid.h"

namespace drover::kube {
namespace {

Object texts_of(const std::map<std::string, std::string>& map) {
  Object object;
  for (const auto& [key, value] : map) object[key] = value;
  return object;
}

Object annotations_of(const Node& node) {
  Object annotations = texts_of(node.marks.annotations);
  if (node.drain) {
    annotations[kDrainReasonAnnotation] = node.drain->reason;
    if (!node.drain->user.empty()) annotations[kDrainUserAnnotation] = node.drain->user;
  }
  return annotations;
}

}  // namespace

Value node_object(const Node& node, const NodeView& view) {
  Object metadata{{"name", node.name()},
                  {"uid", stable_uid(view.cluster, "node/" + node.name())},
                  {"resourceVersion", std::to_string(node.version)},
                  {"creationTimestamp", time_text(node.registered)},
                  {"labels", texts_of(labels_of(node))}};
  Object annotations = annotations_of(node);
  if (!annotations.empty()) metadata["annotations"] = std::move(annotations);
  Object spec;
  Array taints = taints_of(node);
  if (!taints.empty()) spec["taints"] = std::move(taints);
  if (node.drain) spec["unschedulable"] = true;
  return Object{{"kind", "Node"},
                {"apiVersion", "v1"},
                {"metadata", std::move(metadata)},
                {"spec", std::move(spec)},
                {"status", node_status(node, view)}};
}

}  // namespace drover::kube
