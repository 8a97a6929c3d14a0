// TLS as a kind of stream of wire: for the connections of a server and for the client's end of a
// WebSocket.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "tls/context.h"
#include "wire/http_server.h"
#include "wire/websocket.h"

namespace drover::tls {

// A connection ends with its peer's certificate, or when that is revoked: within this long.
inline constexpr std::chrono::milliseconds kRecheck{10'000};

// For wire::ServerOptions::transport. `refused` is told of each peer that was not let in, on a
// thread of the server.
[[nodiscard]] wire::TransportFactory server_transport(
    std::shared_ptr<Context> context, std::function<void(const std::string& why)> refused,
    std::chrono::milliseconds recheck = kRecheck);

// For wire::WsClientOptions::websocket. The session opens only when the peer is whom `expect`
// names.
[[nodiscard]] wire::WebsocketFactory client_websocket(std::shared_ptr<Context> context,
                                                      Expect expect);

// Who a verified peer of a request is.
[[nodiscard]] Result<Identity> identity_of(const wire::Peer& peer);

}  // namespace drover::tls
