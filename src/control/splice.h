// A connection that has left HTTP and a socket, joined: what one says goes to the other, and
// neither side runs ahead.
#pragma once

#include <string>

#include "os/fd.h"
#include "wire/http_server.h"

namespace drover::control {

// Answers 101 with that protocol. `socket` is connected and non-blocking. From any thread.
void splice(const wire::Responder& responder, std::string protocol, Fd socket);

}  // namespace drover::control
