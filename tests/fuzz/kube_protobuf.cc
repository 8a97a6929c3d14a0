// Bodies in protobuf: what decodes conforms to its kind.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "kube/json/print.h"
#include "kube/protobuf/decode.h"
#include "kube/schema/conform.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace drover::kube;
  const std::string_view body(reinterpret_cast<const char*>(data),
                              size);  // NOLINT: libFuzzer's type
  (void)decode_protobuf(body);
  const Message& pod = *Schema::built_in().kind("v1", "Pod");
  auto decoded = decode_message(body, pod);
  if (!decoded) return 0;
  (void)print(*decoded);
  FieldProblems problems;
  CHECK(conform(*decoded, pod, problems).has_value());
  CHECK(problems.none());
  return 0;
}
