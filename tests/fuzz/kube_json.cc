// Bodies in JSON: no input may crash the reading, the check against a kind, or the printing.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "kube/json/parse.h"
#include "kube/json/print.h"
#include "kube/schema/conform.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace drover::kube;
  const std::string_view json(reinterpret_cast<const char*>(data),
                              size);  // NOLINT: libFuzzer's type
  auto parsed = parse_noting_duplicates(json);
  if (!parsed) return 0;
  const std::string printed = print(parsed->value);
  const auto again = parse(printed);
  CHECK(again.has_value() && same(*again, parsed->value));
  FieldProblems problems;
  if (!conform(parsed->value, *Schema::built_in().kind("v1", "Pod"), problems)) return 0;
  (void)warnings(problems, FieldValidation::warn);
  // What conforms once conforms for good, and has nothing unknown any more.
  FieldProblems none;
  const std::string first = print(parsed->value);
  CHECK(conform(parsed->value, *Schema::built_in().kind("v1", "Pod"), none).has_value());
  CHECK(none.none() && print(parsed->value) == first);
  return 0;
}
