// Sockets as file descriptors: where to listen and where to connect, over Unix sockets and TCP. A
// Unix path may be longer than the kernel's 107 bytes: its folder is opened and named by number.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "os/fd.h"
#include "wire/http.h"

namespace drover::wire {

struct Endpoint {
  std::string path;  // a Unix socket when not empty
  std::string host;
  std::uint16_t port = 0;

  [[nodiscard]] static Endpoint unix_socket(std::string path) { return {std::move(path), {}, 0}; }
  [[nodiscard]] static Endpoint tcp(std::string host, std::uint16_t port) { return {{}, std::move(host), port}; }
  // "unix:/path", "host:port" or "[v6]:port".
  [[nodiscard]] static Result<Endpoint> parse(std::string_view text);
  [[nodiscard]] std::string text() const;
};

// A listening, non-blocking socket. A Unix socket appears under its path whole, with `mode`: it is
// bound beside it and moved over what a dead server left; a path that answers is refused.
[[nodiscard]] Result<Fd> listen_on(const Endpoint& at, unsigned mode);
// The port that the kernel chose for a TCP endpoint with port 0.
[[nodiscard]] std::uint16_t local_port(int fd);

// A connected socket. `wait` bounds the connect itself; the socket comes back non-blocking.
[[nodiscard]] Result<Fd> connect_to(const Endpoint& to, std::chrono::milliseconds wait);

// Who is at the other end.
[[nodiscard]] Peer peer_of(int fd);

}  // namespace drover::wire
