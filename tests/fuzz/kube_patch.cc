// Patches: the input is a document and a patch, with a zero byte between them.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "kube/json/parse.h"
#include "kube/patch/json_patch.h"
#include "kube/patch/merge_patch.h"
#include "kube/patch/strategic_patch.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace drover::kube;
  const std::string_view text(reinterpret_cast<const char*>(data),
                              size);  // NOLINT: libFuzzer's type
  const auto zero = text.find('\0');
  if (zero == std::string_view::npos) return 0;
  const auto document = parse(text.substr(0, zero));
  const auto patch = parse(text.substr(zero + 1));
  if (!document || !patch) return 0;
  constexpr PatchLimits kLimits{.operations = 100, .bytes = 1U << 20U};
  if (const auto done = apply_json_patch(*document, *patch, kLimits))
    CHECK(depth_of(*done) <= 2 * kLimits.depth);
  (void)apply_merge_patch(*document, *patch);
  const Message& pod = *Schema::built_in().kind("v1", "Pod");
  (void)apply_strategic_patch(*document, *patch, pod);
  return 0;
}
