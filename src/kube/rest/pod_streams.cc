#include "kube/rest/pod_streams.h"

#include "kube/rest/failure.h"

namespace drover::kube {

void serve_pod_stream(const Context&, const Ask&, const Entry&, const wire::Responder& responder) {
  answer_failure(responder, unavailable("streams of pods are not served by this controller"));
}

}  // namespace drover::kube
