#include "kube/schema/base64.h"

#include <array>
#include <cstdint>

namespace drover::kube {
namespace {

constexpr std::string_view kLetters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kNone = 255;

constexpr std::array<std::uint8_t, 256> letter_values() {
  std::array<std::uint8_t, 256> values{};
  for (auto& value : values) value = kNone;
  for (std::size_t i = 0; i < kLetters.size(); ++i) {
    values[static_cast<unsigned char>(kLetters[i])] = static_cast<std::uint8_t>(i);
  }
  return values;
}
constexpr std::array<std::uint8_t, 256> kValues = letter_values();

// Calls `byte` for each byte; false when the text isn't base64.
template <class Byte>
bool decode(std::string_view text, Byte byte) {
  std::uint32_t bits = 0;
  std::size_t letters = 0;
  std::size_t padding = 0;
  for (const char letter : text) {
    if (letter == '\n' || letter == '\r') continue;
    if (letter == '=') {
      ++padding;
      continue;
    }
    const std::uint8_t value = kValues[static_cast<unsigned char>(letter)];
    if (value == kNone || padding > 0) return false;
    bits = bits << 6U | value;
    if (++letters % 4 == 0) {
      byte(bits >> 16U);
      byte(bits >> 8U);
      byte(bits);
    }
  }
  const std::size_t rest = letters % 4;
  if (rest == 1 || padding != (rest == 0 ? 0 : 4 - rest)) return false;
  if (rest >= 2) byte(bits >> (rest == 2 ? 4U : 10U));
  if (rest == 3) byte(bits >> 2U);
  return true;
}

}  // namespace

std::string to_base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t bits = 0;
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t k = 0; k < 3; ++k) {
      bits = bits << 8U | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text += k <= count ? kLetters[bits >> (18U - 6U * k) & 63U] : '=';
    }
  }
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  std::string bytes;
  if (!decode(text, [&bytes](std::uint32_t byte) { bytes += static_cast<char>(byte & 255U); }))
    return std::nullopt;
  return bytes;
}

bool is_base64(std::string_view text) {
  return decode(text, [](std::uint32_t) {});
}

}  // namespace drover::kube
