#include "kube/stream/protocol.h"

#include <algorithm>

#include "base/text.h"
#include "wire/websocket.h"

namespace drover::kube {
namespace {

Error no_agreement(std::string_view offered, std::span<const std::string_view> ours) {
  std::string all;
  for (const std::string_view one : ours) all.append(all.empty() ? "" : " ").append(one);
  return {Errc::denied, "unable to upgrade: unable to negotiate protocol: client supports [" +
                            printable(offered) + "], server supports [" + all + "]"};
}

}  // namespace

bool asks_for(const wire::Headers& headers, std::string_view protocol) {
  const auto named = split(wire::find_header(headers, "Upgrade"), ',');
  return std::ranges::any_of(named,
                             [&](std::string_view one) { return iequals(trim(one), protocol); });
}

Result<std::string> agreed_websocket(const wire::Headers& headers,
                                     std::span<const std::string_view> ours) {
  const std::string_view chosen = wire::chosen_protocol(headers, ours);
  if (!chosen.empty()) return std::string(chosen);
  return no_agreement(wire::find_header(headers, "Sec-WebSocket-Protocol"), ours);
}

Result<std::string> agreed_spdy(const wire::Headers& headers,
                                std::span<const std::string_view> ours) {
  bool named = false;
  for (const wire::Header& header : headers) {
    if (!iequals(header.name, "X-Stream-Protocol-Version")) continue;
    named = true;
    for (const std::string_view offered : split(header.value, ',')) {
      const auto known = std::ranges::find(ours, trim(offered));
      if (known != ours.end()) return std::string(*known);
    }
  }
  if (!named) return std::string();
  return no_agreement(wire::find_header(headers, "X-Stream-Protocol-Version"), ours);
}

}  // namespace drover::kube
