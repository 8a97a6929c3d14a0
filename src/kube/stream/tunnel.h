// Bytes carried in the binary messages of a WebSocket, as a stream of bytes again: how newer
// clients take SPDY through what knows only WebSockets.
#pragma once

#include <string>

#include "wire/http_server.h"

namespace drover::kube {

void tunnel(const wire::Responder& responder, const std::string& protocol,
            const wire::ByteLimits& limits, wire::ByteHandlers handlers);

}  // namespace drover::kube
