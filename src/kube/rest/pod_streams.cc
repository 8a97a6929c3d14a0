#include "kube/rest/pod_streams.h"

#include "kube/rest/failure.h"

namespace drover::kube {

void serve_pod_stream(const Context& context, const Ask& ask, const Entry& pod,
                      const wire::Responder& responder) {
  if (!context.streams.reach) {
    return answer_failure(responder,
                          unavailable("streams of pods are not served by this controller"));
  }
  const Value value = pod.value();
  StreamAsk stream{.request = ask.request,
                   .target = ask.target,
                   .subresource = ask.route.subresource,
                   .pod = value,
                   .node = std::string(text_at(value, "spec.nodeName"))};
  context.service.read([&](const Cluster& cluster, Instant) {
    const Document* document =
        cluster.document({.kind = "pods", .space = pod.name.space, .name = pod.name.name});
    const Job* job = document == nullptr ? nullptr : cluster.job(document->job);
    if (job == nullptr) return;
    stream.job = job->id;
    stream.attempt = job->run->attempt;
  });
  serve_stream(context.streams, stream, responder);
}

}  // namespace drover::kube
