// A small non-cryptographic hash for digests that only have to differ (FNV-1a, 64 bits).
// Where somebody could profit from a collision, SHA-256 is used instead (store, payloads).
#pragma once

#include <cstdint>
#include <string_view>

namespace drover {

inline constexpr std::uint64_t kFnvStart = 14695981039346656037ULL;

[[nodiscard]] constexpr std::uint64_t fnv1a(std::string_view bytes, std::uint64_t hash = kFnvStart) {
  for (const char c : bytes) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 1099511628211ULL;
  }
  return hash;
}
[[nodiscard]] constexpr std::uint64_t fnv1a(std::uint64_t number, std::uint64_t hash = kFnvStart) {
  for (int i = 0; i < 8; ++i) {
    hash ^= (number >> (8 * i)) & 0xff;
    hash *= 1099511628211ULL;
  }
  return hash;
}

}  // namespace drover
