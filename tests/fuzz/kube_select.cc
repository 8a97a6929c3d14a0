// Selectors, quantities, names and times.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "kube/schema/base64.h"
#include "kube/schema/time_text.h"
#include "kube/select/field_selector.h"
#include "kube/select/label_selector.h"
#include "kube/select/names.h"
#include "kube/select/quantity.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace drover::kube;
  const std::string_view text(reinterpret_cast<const char*>(data),
                              size);  // NOLINT: libFuzzer's type
  if (const auto selector = LabelSelector::parse(text)) {
    (void)selector->matches(nullptr);
    const auto again = LabelSelector::parse(selector->text());
    CHECK(again.has_value() && again->all() == selector->all());
  }
  if (const auto selector = FieldSelector::parse(text)) {
    (void)selector->matches([](std::string_view) { return std::string_view("x"); });
  }
  if (const auto quantity = Quantity::parse(text)) {
    (void)quantity->milli();
    const auto again = Quantity::parse(quantity->text());
    CHECK(again.has_value() && *again == *quantity && again->text() == quantity->text());
    CHECK(!is_canonical(text) || quantity->text() == text);
  }
  if (const auto moment = parse_time(text)) {
    const std::string micro = micro_time_text(*moment);
    CHECK(micro.empty() || parse_time(micro)->seconds == moment->seconds);
  }
  if (const auto bytes = from_base64(text)) CHECK(from_base64(to_base64(*bytes)) == bytes);
  (void)qualified_name(text);
  (void)label_value(text);
  (void)dns1123_subdomain(text);
  (void)env_var_name(text);
  return 0;
}
