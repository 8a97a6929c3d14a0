// Unix sockets: those that keep message borders (SOCK_SEQPACKET, SOCK_DGRAM), streams that may carry a
// descriptor, and who is at the other end.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/result.h"
#include "os/fd.h"

namespace drover {

struct Peer {
  pid_t pid = 0;
  uid_t uid = 0;
  gid_t gid = 0;
};

// A socket that listens at `path` with mode 0600, taking the place of a dead one; close-on-exec and
// non-blocking, as all sockets here.
[[nodiscard]] Result<Fd> listen_packets(const std::string& path);
[[nodiscard]] Result<Fd> connect_packets(const std::string& path);
[[nodiscard]] Result<Fd> accept_connection(int listening);
// The same for streams. `mode`: 0666 lets everybody connect, 0600 our own user alone.
[[nodiscard]] Result<Fd> listen_stream(const std::string& path, mode_t mode);
[[nodiscard]] Result<Fd> connect_stream(const std::string& path);
// A datagram socket bound at `path` with mode 0600.
[[nodiscard]] Result<Fd> bind_datagrams(const std::string& path);

// An unbound one, to send from.
[[nodiscard]] Result<Fd> datagram_socket();
// Whether a living process has a datagram socket bound at `path`.
[[nodiscard]] bool has_listener(const std::string& path);

[[nodiscard]] Result<Peer> peer_of(int socket);

// A few bytes at once, with a descriptor beside them; for a stream on which nothing waits to go out.
[[nodiscard]] Status send_with_descriptor(int socket, std::string_view bytes, int descriptor);
// What a read of a stream gave: 0 bytes and not `closed` means that there is nothing yet.
struct Arrived {
  std::size_t bytes = 0;
  bool closed = false;
  Fd descriptor;
};
[[nodiscard]] Result<Arrived> receive_with_descriptor(int socket, char* into, std::size_t room);

// Whole message or nothing. A message too long for a socket's buffer travels as a sealed memory
// file beside an empty message; receive() gives it back as if it had come inline.
[[nodiscard]] Status send_message(int socket, std::string_view bytes);
// Datagram to the socket at `path`. unavailable when nobody is bound there or his queue is full.
[[nodiscard]] Status send_datagram(int socket, const std::string& path, std::string_view bytes);

struct Received {
  enum class Kind { message, nothing_yet, closed } kind = Kind::nothing_yet;
  std::string bytes;
};
[[nodiscard]] Result<Received> receive_message(int socket);

}  // namespace drover
