// An HTTP/1.1 server on a Unix or TCP socket, with bounded memory: connections, headers, bodies and
// what waits for slow readers all have a limit and an answer beyond it. Handlers see bytes and
// values; they may answer later, from any thread. Nothing here throws.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "os/fd.h"
#include "wire/byte_stream.h"
#include "wire/http.h"
#include "wire/socket.h"
#include "wire/websocket.h"

namespace drover::wire {

class Shard;
class Transport;
// How a connection's bytes are carried; the socket is connected and non-blocking.
using TransportFactory = std::function<std::unique_ptr<Transport>(std::shared_ptr<Shard>, Fd)>;

struct ServerOptions {
  Endpoint at;
  unsigned mode = 0666;  // of a Unix socket's file
  int threads = 1;
  std::size_t max_header = 32U << 10U;
  std::size_t max_body = 8U << 20U;
  std::size_t max_bodies = 256U << 20U;        // all request bodies in memory together; beyond: 503
  std::size_t max_stream_queue = 16U << 20U;   // what may wait for one slow reader; beyond, it is cut
  std::size_t max_connections = 4096;          // beyond: 503 with Retry-After
  std::size_t max_connections_per_user = 1024;  // of one uid other than root and ours; beyond: 429
  std::chrono::milliseconds idle_timeout{120'000};   // between requests of a connection
  std::chrono::milliseconds header_timeout{10'000};  // from a request's first byte to its last header
  std::chrono::milliseconds body_timeout{60'000};    // for the whole body
  std::chrono::milliseconds write_timeout{30'000};   // for each 64 KiB of an answer
  std::chrono::milliseconds stop_grace{2'000};       // for requests in flight when the server stops
  WsLimits websocket;
  TransportFactory transport;  // null: as they are, over the plain socket
};

class Call;

// The body of an answer that grows: a long list, a watch. Copies are the same stream. All calls may
// come from any thread. The last copy that goes away finishes the stream.
class Stream {
 public:
  Stream() = default;
  // Queues bytes. False: the reader has gone, or was cut because max_stream_queue bytes waited.
  bool write(Bytes bytes) const;  // NOLINT(modernize-use-nodiscard): a watcher may not care
  void finish() const;
  // Cuts the connection, so that the reader sees an incomplete answer.
  void abort() const;
  [[nodiscard]] bool gone() const;
  // Bytes that wait for the reader.
  [[nodiscard]] std::size_t waiting() const;
  // `resume` is called once, when at most `low` bytes wait (perhaps at once) or the reader has gone:
  // how a long list is written at the reader's pace.
  void when_drained(std::size_t low, std::function<void()> resume) const;
  // `notify` is called once when the reader has gone or was cut (perhaps at once).
  void when_gone(std::function<void()> notify) const;

 private:
  friend class Responder;
  explicit Stream(std::shared_ptr<Call> call);
  struct Finisher;
  std::shared_ptr<Call> call_;
  std::shared_ptr<Finisher> finisher_;
};

struct Switch {
  std::string protocol;  // "SPDY/3.1", as the Upgrade header names it
  Headers headers;       // of the answer, besides
  ByteLimits limits;
  ByteHandlers handlers;
};

// The right to answer one request. Copies are the same right: the first answer wins, and a request
// whose last Responder goes away unanswered gets a 500.
class Responder {
 public:
  explicit Responder(std::shared_ptr<Call> call);
  // False: it has been answered already.
  bool answer(Answer answer) const;
  // Begins an answer whose body follows in pieces. The second time, an empty stream that is gone.
  [[nodiscard]] Stream stream(int status, std::string content_type, Headers headers = {}) const;
  // The connection's later requests come from `peer`: the caller now speaks for him. Before the
  // answer.
  void adopt(Peer peer) const;
  // Makes the connection a WebSocket. A request that asks for none gets a 426.
  void upgrade(WsHandlers handlers, WsTerms terms = {}) const;
  // Answers 101; what follows are bytes of another protocol both ways, no HTTP any more.
  void switch_protocols(Switch to) const;
  // The thread of this connection, before and after the answer.
  [[nodiscard]] Lane lane() const;
  // The caller has hung up: long work for him may stop.
  [[nodiscard]] bool gone() const;
  void when_gone(std::function<void()> notify) const;

 private:
  struct Unanswered;
  std::shared_ptr<Call> call_;
  std::shared_ptr<Unanswered> unanswered_;
};

// Called on one of the server's threads; must not block for long.
using Handler = std::function<void(Request&&, Responder)>;

class Server {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Server>> start(ServerOptions options, Handler handler);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Stops accepting, lets requests in flight end for stop_grace, cuts the rest, joins the threads.
  // Not from a handler. Responders may outlive it; what they say is dropped.
  void stop();
  [[nodiscard]] std::uint16_t port() const;
  [[nodiscard]] std::size_t connections() const;

 private:
  class Listener;
  explicit Server(std::shared_ptr<Listener> listener);
  std::shared_ptr<Listener> listener_;
};

}  // namespace drover::wire
