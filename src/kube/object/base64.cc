#include "kube/object/base64.h"

#include <array>
#include <cstdint>

namespace drover::kube {
namespace {

constexpr std::string_view kLetters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::uint32_t kNone = 64;
constexpr auto kValues = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNone);
  for (std::size_t i = 0; i < kLetters.size(); ++i) {
    values[static_cast<unsigned char>(kLetters[i])] = static_cast<std::uint8_t>(i);
  }
  return values;
}();

}  // namespace

std::string to_base64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group <<= 8U;
      if (i + k < bytes.size()) group |= static_cast<unsigned char>(bytes[i + k]);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      const bool given = i + k <= bytes.size();  // n bytes fill n + 1 letters
      out += given ? kLetters[(group >> (18 - 6 * k)) & 63U] : '=';
    }
  }
  return out;
}

std::optional<std::string> from_base64(std::string_view text) {
  std::string letters;
  letters.reserve(text.size());
  for (const char c : text) {
    if (c != '\n' && c != '\r') letters += c;
  }
  if (letters.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && letters.size() > padding && letters[letters.size() - 1 - padding] == '=') {
    letters[letters.size() - 1 - padding++] = 'A';
  }
  std::string out;
  out.reserve(letters.size() / 4 * 3);
  std::uint32_t group = 0;
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const std::uint32_t value = kValues[static_cast<unsigned char>(letters[i])];
    if (value == kNone) return std::nullopt;
    group = group << 6U | value;
    if (i % 4 != 3) continue;
    for (const std::uint32_t shift : {16U, 8U, 0U}) {
      out += static_cast<char>(group >> shift & 255U);
    }
    group = 0;
  }
  out.resize(out.size() - padding);
  return out;
}

}  // namespace drover::kube
