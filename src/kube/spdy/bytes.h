// Numbers as SPDY has them: the most significant byte first. Internal to spdy.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace drover::kube {

inline void put_32(std::string& to, std::uint32_t n) {
  for (int shift = 24; shift >= 0; shift -= 8)
    to += static_cast<char>((n >> static_cast<unsigned>(shift)) & 0xffU);
}
// The number at `at`; the bytes must be there.
inline std::uint32_t get_32(std::string_view from, std::size_t at) {
  std::uint32_t n = 0;
  for (std::size_t i = 0; i < 4; ++i) n = (n << 8U) | static_cast<unsigned char>(from[at + i]);
  return n;
}

}  // namespace drover::kube
