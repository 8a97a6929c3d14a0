// Payload hashes as people and JSON see them: 64 hexadecimal digits.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "domain/ids.h"

namespace drover::native {

[[nodiscard]] inline std::string hash_text(const PayloadHash& hash) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::uint64_t word : hash.words) {
    for (int shift = 60; shift >= 0; shift -= 4) text += kDigits[(word >> shift) & 15U];
  }
  return text;
}

[[nodiscard]] inline std::optional<PayloadHash> hash_from_text(std::string_view text) {
  PayloadHash hash;
  if (text.size() != 64) return std::nullopt;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool digit = c >= '0' && c <= '9';
    if (!digit && (c < 'a' || c > 'f')) return std::nullopt;
    const auto value = static_cast<std::uint64_t>(digit ? c - '0' : c - 'a' + 10);
    hash.words[i / 16] = (hash.words[i / 16] << 4U) | value;
  }
  return hash;
}

}  // namespace drover::native
