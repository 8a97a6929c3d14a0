// What a client says on a SPDY connection: no bytes may crash the server's end, however they are
// cut, and nothing is said on streams that aren't open.
#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>

#include "base/check.h"
#include "kube/spdy/session.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace drover;
  using namespace drover::kube;
  if (size == 0) return 0;
  const std::size_t cut = 1 + data[0] % 64U;
  std::string_view bytes(reinterpret_cast<const char*>(data + 1),
                         size - 1);  // NOLINT: libFuzzer's type
  std::set<std::uint32_t> open;
  std::set<std::uint32_t> finished;
  SpdySession session(
      8, {.opened = [&](std::uint32_t id, const SpdyHeaders& headers) -> Status {
            CHECK(id % 2 == 1 && !open.contains(id) && open.size() < 8 + finished.size());
            if (find(headers, "streamtype") == "bad") return Error{Errc::invalid, "no"};
            open.insert(id);
            return Done{};
          },
          .data =
              [&](std::uint32_t id, std::string_view piece) {
                CHECK(open.contains(id) && !finished.contains(id) && !piece.empty());
              },
          .fin = [&](std::uint32_t id) { CHECK(open.contains(id) && finished.insert(id).second); },
          .reset = [&](std::uint32_t id) { open.erase(id); },
          .send = [](const std::string& said) { CHECK(said.size() >= 8); }});
  for (; !bytes.empty(); bytes.remove_prefix(std::min(cut, bytes.size()))) {
    if (!session.feed(bytes.substr(0, cut))) return 0;
    if (!open.empty()) session.data(*open.begin(), "x");
  }
  return 0;
}
