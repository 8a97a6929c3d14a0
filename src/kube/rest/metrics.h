// metrics.k8s.io: what nodes and pods use, for `kubectl top`.
#pragma once

#include "kube/rest/ask.h"

namespace drover::kube {

void serve_metrics(const Context& context, const Ask& ask, const wire::Responder& responder);

}  // namespace drover::kube
