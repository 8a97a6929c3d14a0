// GPU conditions and feature expressions: no input may crash the parser or what it gives.
#include <cstdint>
#include <string_view>

#include "domain/condition.h"
#include "domain/features.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);  // NOLINT: libFuzzer's type
  drover::DeviceInfo device{.uuid = "u", .model = "a100", .capability = 80};
  device.attributes = {{"ecc", "on"}, {"slots", "7"}};
  if (const auto condition = drover::Condition::parse(text)) (void)condition->holds(device);
  if (const auto features = drover::Features::parse(text)) {
    for (std::size_t way = 0; way < features->ways(); ++way) (void)features->holds({"a", "rack1"}, way);
  }
  return 0;
}
