#include "kube/rest/metrics.h"

#include "kube/object/times.h"
#include "kube/rest/body.h"
#include "kube/rest/filter.h"

namespace drover::kube {
namespace {

// What the node's last heartbeat said: its load as CPUs in use, and the memory that isn't free.
std::optional<Value> node_metrics(const api::NodeView& view, Instant now) {
  if (view.node.contact != Contact::up || view.memory_free == Bytes{}) return std::nullopt;
  const std::int64_t milli =
      std::min<std::int64_t>(std::int64_t{view.load_centi} * 10, std::int64_t{view.node.inventory.cpus} * 1000);
  const Bytes used = view.node.inventory.memory - std::min(view.memory_free, view.node.inventory.memory);
  return Object{
      {"kind", "NodeMetrics"},
      {"apiVersion", "metrics.k8s.io/v1beta1"},
      {"metadata", Object{{"name", view.node.name()}, {"creationTimestamp", time_text(now)}}},
      {"timestamp", time_text(now)},
      {"window", "1m0s"},
      {"usage", Object{{"cpu", std::to_string(milli) + "m"}, {"memory", std::to_string(used.count() >> 10) + "Ki"}}}};
}

void answer_list(const wire::Responder& responder, const char* kind, Array items) {
  answer_value(responder,
               Object{{"kind", kind},
                      {"apiVersion", "metrics.k8s.io/v1beta1"},
                      {"metadata", Object{}},
                      {"items", std::move(items)}},
               200);
}

}  // namespace

void serve_metrics(const Context& context, const Ask& ask, const wire::Responder& responder) {
  if (ask.resource().name == "pods") {
    if (ask.route.name.empty()) return answer_list(responder, "PodMetricsList", {});
    return answer_failure(responder, not_found(ask.resource(), ask.route.name));
  }
  auto filter = filter_of(ask.route, ask.target);
  if (!filter) return answer_failure(responder, filter.error());
  Array items;
  const Instant now = context.now();
  static_cast<void>(context.service.nodes([&](const api::NodeView& view) {
    if (!ask.route.name.empty() && view.node.name() != ask.route.name) return;
    const EntryPtr node = context.store.get("nodes", {.space = "", .name = view.node.name()});
    if (!node || !filter->wants(*node)) return;
    if (auto metrics = node_metrics(view, now)) items.push_back(std::move(*metrics));
  }));
  if (ask.route.name.empty()) return answer_list(responder, "NodeMetricsList", std::move(items));
  if (items.empty()) return answer_failure(responder, not_found(ask.resource(), ask.route.name));
  answer_value(responder, items.front(), 200);
}

}  // namespace drover::kube
