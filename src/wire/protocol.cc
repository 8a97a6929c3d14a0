#include <algorithm>

#include "base/text.h"
#include "wire/websocket.h"

namespace drover::wire {

std::string_view chosen_protocol(const Headers& headers, std::span<const std::string_view> ours) {
  for (const Header& header : headers) {
    if (!iequals(header.name, "Sec-WebSocket-Protocol")) continue;
    for (const std::string_view offered : split(header.value, ',')) {
      const auto known = std::ranges::find(ours, trim(offered));
      if (known != ours.end()) return *known;
    }
  }
  return {};
}

}  // namespace drover::wire
