// What hangs on a pod: its log, commands in it, its binding and its eviction.
#pragma once

#include "kube/rest/ask.h"

namespace drover::kube {

void serve_pod_subresource(const Context& context, const Ask& ask, const wire::Responder& responder);

}  // namespace drover::kube
