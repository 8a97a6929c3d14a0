// A shim's word to the keeper of the day. The records say it all; this only saves the keeper from
// looking. A full queue is waited for.
#pragma once

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <string>
#include <utility>

#include "agent/shim/spec.h"
#include "base/proto.h"
#include "os/fd.h"
#include "os/socket.h"

namespace drover::agent {

class Teller {
 public:
  explicit Teller(std::string path) : path_(std::move(path)) {}

  void tell(const Attempt& attempt) {
    if (!socket_) {
      auto socket = datagram_socket();
      if (!socket) return;
      socket_ = std::move(*socket);
      [[maybe_unused]] const int blocking = ::fcntl(socket_.get(), F_SETFL, 0);
      const timeval patience{.tv_sec = 1, .tv_usec = 0};
      ::setsockopt(socket_.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    }
    [[maybe_unused]] const Status told = send_datagram(socket_.get(), path_, encode(attempt));
  }

 private:
  std::string path_;
  Fd socket_;
};

}  // namespace drover::agent
