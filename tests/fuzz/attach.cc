// What anybody on a node may say to its agent's stream socket, and a client to a step: no bytes may crash
// either, and what is taken for a wish reads back the same.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/proto.h"
#include "base/resume.h"
#include "relay/attach.h"

using namespace drover;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);  // NOLINT
  const auto wish = relay::parse_attach(bytes);
  if (wish && *wish) {
    const auto again = relay::parse_attach(frame(encode(**wish)));
    CHECK(again && *again && encode(**again) == encode(**wish));
  }
  ResumableStream stream;
  CHECK(stream.connected(0));
  std::uint64_t messages = 0;
  (void)stream.feed(bytes, [&](std::string_view message) {
    ++messages;
    (void)decode<StepUp>(message);
  });
  CHECK(stream.received() == messages);
  return 0;
}
