// Logs of containers, commands in them, their input and output: streams between a client and the agent of
// the pod's node.
#pragma once

#include "kube/rest/ask.h"

namespace drover::kube {

void serve_pod_stream(const Context& context, const Ask& ask, const Entry& pod, const wire::Responder& responder);

}  // namespace drover::kube
