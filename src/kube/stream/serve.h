// Serves the streams of pods: log, exec, attach and port-forward, each between a client and the
// agent of the pod's node.
#pragma once

#include <functional>
#include <string>

#include "domain/pod_stream.h"
#include "kube/json/value.h"
#include "kube/stream/limits.h"
#include "os/fd.h"
#include "wire/http_server.h"
#include "wire/target.h"

namespace drover::kube {

struct StreamSite {
  // A connected, non-blocking socket to the agent of that node, which has been asked; the next that
  // comes on it is the framed PodAttached. Doesn't wait.
  std::function<Result<Fd>(const std::string& node, const PodAttach& ask)> reach;
  std::function<Instant()> now;
  StreamGate gate;
};

// What one client asks for, after he was let in.
struct StreamAsk {
  const wire::Request& request;
  const wire::Target& target;
  std::string_view subresource;  // "log", "exec", "attach", "portforward"
  const Value& pod;
  JobId job;
  std::uint32_t attempt = 0;
  std::string node;  // "": none yet
};

void serve_stream(const StreamSite& site, const StreamAsk& ask, const wire::Responder& responder);

}  // namespace drover::kube
