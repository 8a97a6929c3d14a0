// Bodies in YAML, and tokens: what is read is printed and read again as JSON.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "kube/json/parse.h"
#include "kube/json/print.h"
#include "kube/json/yaml.h"
#include "kube/token/token.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace drover::kube;
  const std::string text(reinterpret_cast<const char*>(data), size);  // NOLINT: libFuzzer's type
  if (const auto parsed = parse_yaml(text, {.bytes = 64U << 10U, .depth = 64})) {
    CHECK(depth_of(parsed->value) <= 64);
    const auto again = parse(print(parsed->value));
    CHECK(again.has_value() && same(*again, parsed->value));
  }
  const TokenKeys keys{.sign = nullptr,
                       .is_ours = [](std::string_view, std::string_view) { return true; }};
  if (const auto claims = read_token(text, keys, drover::Instant(drover::seconds(1'796'000'000))))
    CHECK(claims->from < claims->until && !claims->account.empty());
  return 0;
}
