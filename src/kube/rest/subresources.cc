#include "kube/rest/subresources.h"

#include "kube/rest/body.h"
#include "kube/rest/kept.h"
#include "kube/rest/pod_streams.h"

namespace drover::kube {
namespace {

Value success(int code) {
  return Object{
      {"kind", "Status"}, {"apiVersion", "v1"}, {"metadata", Object{}}, {"status", "Success"}, {"code", code}};
}

void execute_all(const Context& context, std::shared_ptr<std::vector<api::Execute>> wishes, std::size_t next,
                 const Ask& ask, const wire::Responder& responder) {
  if (next == wishes->size()) return answer_value(responder, success(201), 201);
  const Resource& resource = ask.resource();
  const std::string name = ask.route.name;
  context.service.execute((*wishes)[next],
                          [&context, wishes, next, ask, responder, &resource, name](const api::Answer& answer) {
                            if (const auto* refusal = std::get_if<Refusal>(&answer)) {
                              return answer_failure(responder, refused(resource, name, *refusal));
                            }
                            execute_all(context, wishes, next + 1, ask, responder);
                          });
}

// As a deletion; budgets that could forbid it are still to come (docs/kubernetes.md).
void evict(const Context& context, const Ask& ask, const Entry& pod, const wire::Responder& responder) {
  auto body = read_body(ask.request, ask.target, "policy/v1", "Eviction");
  if (!body) return answer_failure(responder, body.error());
  if (text_at(body->value, "metadata.name") != ask.route.name) {
    return answer_failure(responder, bad_request("name in URL does not match name in Eviction object"));
  }
  const Array* dry = array_at(body->value, "deleteOptions.dryRun");
  if (dry != nullptr && !dry->empty()) return answer_value(responder, success(201), 201);
  auto plan = plan_removal(context, ask, pod, {.grace = integer_at(body->value, "deleteOptions.gracePeriodSeconds")});
  if (!plan) return answer_failure(responder, plan.error());
  execute_all(context, std::make_shared<std::vector<api::Execute>>(std::move(plan->wishes)), 0, ask, responder);
}

// Another scheduler has chosen a node for a pod that names it: the pod may go there, and nowhere else.
void bind(const Context& context, const Ask& ask, const Entry& pod, const wire::Responder& responder) {
  auto body = read_body(ask.request, ask.target, "v1", "Binding");
  if (!body) return answer_failure(responder, body.error());
  const std::string node(text_at(body->value, "target.name"));
  static const Resource* const kNodes = find_resource("", "v1", "nodes");
  if (!context.store.get("nodes", {.space = "", .name = node}))
    return answer_failure(responder, not_found(*kNodes, node));
  const std::string bound = pod.look().at("spec.nodeName").text();
  if (!bound.empty()) {
    Failure failure =
        conflict(ask.resource(), ask.route.name,
                 "pod " + ask.route.name + " is already assigned to node \"" + bound + "\"");
    return answer_failure(responder, failure);
  }
  auto wishes = std::make_shared<std::vector<api::Execute>>();
  context.service.read([&](const Cluster& cluster, Instant) {
    const Document* document = cluster.document({.kind = "pods", .space = pod.name.space, .name = pod.name.name});
    const Job* job = document == nullptr ? nullptr : cluster.job(document->job);
    if (job == nullptr) return;
    const JobSelector itself{.jobs = {{.job = job->id}}};
    Request request = cluster.request(*job);
    request.labels = {{.all = {{.key = "kubernetes.io/hostname", .op = LabelOp::in, .values = {node}}}}};
    wishes->push_back({.caller = context.self, .command = ModifyJob{.jobs = itself, .request = request}});
    wishes->push_back({.caller = context.self, .command = SetHold{.jobs = itself, .hold = false}});
  });
  execute_all(context, wishes, 0, ask, responder);
}

}  // namespace

void serve_pod_subresource(const Context& context, const Ask& ask, const wire::Responder& responder) {
  const EntryPtr pod = context.store.get("pods", ask.object());
  if (!pod) return answer_failure(responder, not_found(ask.resource(), ask.route.name));
  if (ask.route.subresource == "eviction") return evict(context, ask, *pod, responder);
  if (ask.route.subresource == "binding") return bind(context, ask, *pod, responder);
  serve_pod_stream(context, ask, *pod, responder);
}

}  // namespace drover::kube
