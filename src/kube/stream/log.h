// A container's log as a plain text that grows.
#pragma once

#include "kube/stream/limits.h"
#include "kube/stream/node_stream.h"
#include "wire/http_server.h"

namespace drover::kube {

// `node` has been asked for the log. On the lane of the responder.
void serve_log(const wire::Responder& responder, Fd node, StreamGate::Pass pass);

}  // namespace drover::kube
