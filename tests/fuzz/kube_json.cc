// Bodies in JSON: no input may crash the reading, the check against a kind, or the printing.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "kube/json/parse.h"
#include "kube/json/peek.h"
#include "kube/json/print.h"
#include "kube/schema/conform.h"

namespace {

// What is found in the printed text is what stands there.
void check_peek(const drover::kube::Value& value, const drover::kube::Peek& peek) {
  using namespace drover::kube;
  CHECK(peek.json() == print(value));
  CHECK(peek.text() == text(&value));
  if (!value.is_object()) return;
  for (const auto& entry : value.get_object()) {
    const std::string_view key = entry.key();
    std::string printed;
    print_string(printed, key);
    if (printed.size() == key.size() + 2) check_peek(entry.value(), peek.member(key));  // nothing in it is escaped
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace drover::kube;
  const std::string_view json(reinterpret_cast<const char*>(data),
                              size);  // NOLINT: libFuzzer's type
  auto parsed = parse_noting_duplicates(json);
  if (!parsed) return 0;
  const std::string printed = print(parsed->value);
  const auto again = parse(printed);
  CHECK(again.has_value() && same(*again, parsed->value));
  check_peek(parsed->value, Peek(printed));
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
