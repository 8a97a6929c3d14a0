// The seam between HTTP and a kind of stream (plain sockets; TLS beside it): bytes in, bytes out, on
// a shard's thread. One .cc per kind hides everything of Asio and Beast that depends on the stream.
// Internal to wire.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "wire/http.h"
#include "wire/socket.h"
#include "wire/websocket.h"

namespace drover::wire {

// Told of what the transport did. One read and one write are in flight at most.
class TransportUser {
 public:
  enum class End { no, eof, failed };
  virtual ~TransportUser() = default;
  virtual void on_read(End end, std::size_t size) = 0;
  virtual void on_written(bool failed, std::size_t size) = 0;
};

class Transport {
 public:
  virtual ~Transport() = default;
  virtual void read(std::shared_ptr<TransportUser> user, std::span<char> into) = 0;
  // Writes some of the pieces, in order.
  virtual void write(std::shared_ptr<TransportUser> user, std::span<const std::string_view> pieces) = 0;
  virtual void cancel_read() = 0;
  virtual void shutdown_send() = 0;
  virtual void close() = 0;
  // Adds what the stream itself proves of the peer, once it has been read from.
  virtual void identify(Peer& peer) const { static_cast<void>(peer); }
  // Hands the stream over to a WebSocket that answers the request; `ended` is called once when it
  // is gone. Nothing is in flight, and this transport is used no more.
  virtual void upgrade(const Request& request, WsHandlers handlers, const WsTerms& terms, WsEnded ended) = 0;
};

// The kinds. `fd` is a connected, non-blocking socket.
[[nodiscard]] std::unique_ptr<Transport> plain_transport(std::shared_ptr<Shard> shard, Fd fd);

// The client's end of a WebSocket, per kind.
void plain_websocket(std::shared_ptr<Shard> shard, Fd fd, const WsHello& hello, const WsLimits& limits,
                     WsHandlers handlers, WsEnded ended);

}  // namespace drover::wire
