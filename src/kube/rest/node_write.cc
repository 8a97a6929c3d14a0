#include "kube/rest/node_write.h"

#include "kube/object/node/node_object.h"

namespace drover::kube {

std::vector<api::Execute> wishes_for_node(const Context& context, const Entry& current, const Value& changed,
                                          const Caller& caller) {
  NodeChange change;
  const Value was = current.value();
  context.service.read([&](const Cluster& cluster, Instant) {
    if (const Node* node = cluster.node(current.name.name)) change = node_change(*node, was, changed);
  });
  std::vector<api::Execute> wishes;
  if (change.marks_changed) {
    wishes.push_back({.caller = caller,
                      .command = MarkNode{
                          .node = current.name.name, .marks = std::move(change.marks), .expect = current.version}});
  }
  if (change.cordon) {
    UpdateNode update{.nodes = {current.name.name}, .wish = *change.cordon ? NodeWish::drain : NodeWish::resume};
    if (*change.cordon) update.reason = "cordoned by " + caller.user;
    wishes.push_back({.caller = caller, .command = std::move(update)});
  }
  return wishes;
}

}  // namespace drover::kube
