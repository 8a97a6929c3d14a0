// WebSocket sessions: binary messages both ways, kept alive by pings, with a bounded queue. The
// server side begins with Responder::upgrade; WsClient is the other end and reconnects by itself.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "os/fd.h"
#include "wire/http.h"
#include "wire/socket.h"

namespace drover::wire {

struct WsLimits {
  std::size_t max_message = 16U << 20U;
  std::size_t max_queue = 64U << 20U;  // bytes that wait to be sent
  std::chrono::milliseconds ping_every{10'000};
  std::chrono::milliseconds dead_after{30'000};  // without a byte from the peer
  std::chrono::milliseconds handshake{10'000};
  std::chrono::milliseconds farewell{1'000};  // for the peer's answer to our closing
};

class WsSession {
 public:
  enum class Sent { queued, full, closed };
  virtual ~WsSession() = default;
  // From any thread. `full`: the peer is slower than what it is sent; nothing was queued.
  virtual Sent send(Bytes message) = 0;
  // From any thread: what is queued goes out, then the closing handshake. on_close follows.
  virtual void close() = 0;
  // From any thread: bytes that wait to be sent.
  [[nodiscard]] virtual std::size_t waiting() const = 0;
  // From any thread: a message that wasn't taken may come again now.
  virtual void resume() = 0;
  [[nodiscard]] virtual const Peer& peer() const = 0;
};
using WsSessionPtr = std::shared_ptr<WsSession>;

// Called on a thread of the server or client, one at a time per session: on_open, then messages,
// then on_close once. A session that failed to open has neither.
struct WsHandlers {
  std::function<void(const WsSessionPtr&)> on_open;
  // False: not now. The same message comes again a little later and nothing more is read until it
  // is taken, so a full inbox slows the peer down and loses nothing.
  std::function<bool(const WsSessionPtr&, std::string& message)> on_message;
  std::function<void(const WsSessionPtr&, const std::string& why)> on_close;
  // May be null. No more than WsTerms::low bytes wait, and it had been more.
  std::function<void(const WsSessionPtr&)> on_drained = nullptr;
  std::function<void(const WsSessionPtr&)> on_tick = nullptr;  // with each ping, every ping_every
};

// What a server agrees to with one client.
struct WsTerms {
  std::string protocol;  // of those the client offers (chosen_protocol); "": none is named
  bool text = false;     // messages may be of text as well as binary
  std::size_t low = 0;
  std::optional<WsLimits> limits;  // nothing: the server's
};

// The first subprotocol that the client offers and that is one of ours; "" when there is none.
[[nodiscard]] std::string_view chosen_protocol(const Headers& headers, std::span<const std::string_view> ours);

// Called once, on the shard's thread, when a WebSocket is gone, also one that never opened.
using WsEnded = std::function<void(const std::string& why)>;

// What a client asks for when it opens one.
struct WsHello {
  std::string host;
  std::string target;
  Headers headers;
};

class Shard;
// Opens the client's end of a WebSocket on a connected, non-blocking socket.
using WebsocketFactory = std::function<void(std::shared_ptr<Shard>, Fd, const WsHello&,
                                            const WsLimits&, WsHandlers, WsEnded)>;

struct WsClientOptions {
  Endpoint to;
  std::string target = "/";
  Headers headers;
  WsLimits limits;
  std::chrono::milliseconds connect_timeout{5'000};
  std::chrono::milliseconds retry_min{100};
  std::chrono::milliseconds retry_max{10'000};
  std::uint64_t seed = 0;  // of the jitter
  // Told of each attempt that failed and of each lost session, with the pause before the next try.
  std::function<void(const std::string& why, std::chrono::milliseconds pause)> on_retry;
  WebsocketFactory websocket;  // null: over the plain socket
};

// Connects, and connects again after every loss with jittered, doubling pauses, until stop().
class WsClient {
 public:
  WsClient(WsClientOptions options, WsHandlers handlers);
  ~WsClient();
  WsClient(const WsClient&) = delete;
  WsClient& operator=(const WsClient&) = delete;
  // Closes the session and joins the thread; not from a handler. The destructor does it too.
  void stop();

 private:
  class Loop;
  std::shared_ptr<Loop> loop_;
};

}  // namespace drover::wire
