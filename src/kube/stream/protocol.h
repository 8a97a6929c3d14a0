// Which protocol a stream is carried by: what the client offers, in his order, and what is spoken
// here.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "wire/http.h"

namespace drover::kube {

// Whether the Upgrade header names it.
[[nodiscard]] bool asks_for(const wire::Headers& headers, std::string_view protocol);
// Of the subprotocols of a WebSocket.
[[nodiscard]] Result<std::string> agreed_websocket(const wire::Headers& headers,
                                                   std::span<const std::string_view> ours);
// Of X-Stream-Protocol-Version. "": the client names none, and takes the last of ours.
[[nodiscard]] Result<std::string> agreed_spdy(const wire::Headers& headers,
                                              std::span<const std::string_view> ours);

}  // namespace drover::kube
