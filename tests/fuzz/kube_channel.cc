// Messages of a command's WebSocket, sizes of terminals and the protocols that a client offers: no
// bytes may crash the reading, and what is cut differently reads the same.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "kube/stream/channels.h"
#include "kube/stream/protocol.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace drover;
  using namespace drover::kube;
  const std::string_view bytes(reinterpret_cast<const char*>(data),
                               size);  // NOLINT: libFuzzer's type
  const auto message = parse_channel(bytes, true);
  if (message) {
    if (const auto* input = std::get_if<PodInput>(&*message))
      CHECK(input->last != !input->bytes.empty());
  }
  ResizeReader whole;
  ResizeReader pieces;
  const auto at_once = whole.feed(bytes);
  std::size_t found = 0;
  bool good = true;
  for (const char c : bytes) {
    const auto more = pieces.feed({&c, 1});
    good = more.has_value();
    if (!good) break;
    found += more->size();
  }
  CHECK(good == at_once.has_value());
  if (good) CHECK(found == at_once->size());
  constexpr std::string_view kOurs[] = {"v5.channel.k8s.io", "v4.channel.k8s.io"};
  const auto agreed = agreed_spdy({{"X-Stream-Protocol-Version", std::string(bytes)}}, kOurs);
  if (agreed) CHECK(bytes.find(*agreed) != std::string_view::npos);
  return 0;
}
