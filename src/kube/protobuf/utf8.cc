#include "kube/protobuf/utf8.h"

#include <cstdint>

namespace drover::kube {
namespace {

// The bytes of the character that starts with `first`, and the range of the second; 0 for none.
struct Shape {
  std::size_t size;
  std::uint8_t low;
  std::uint8_t high;
};

Shape shape_of(std::uint8_t first) {
  if (first < 0x80) return {1, 0, 0};
  if (first < 0xc2) return {0, 0, 0};
  if (first < 0xe0) return {2, 0x80, 0xbf};
  if (first == 0xe0) return {3, 0xa0, 0xbf};
  if (first == 0xed) return {3, 0x80, 0x9f};
  if (first < 0xf0) return {3, 0x80, 0xbf};
  if (first == 0xf0) return {4, 0x90, 0xbf};
  if (first < 0xf4) return {4, 0x80, 0xbf};
  if (first == 0xf4) return {4, 0x80, 0x8f};
  return {0, 0, 0};
}

}  // namespace

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const Shape shape = shape_of(static_cast<std::uint8_t>(text[i]));
    if (shape.size == 0 || shape.size > text.size() - i) return false;
    for (std::size_t k = 1; k < shape.size; ++k) {
      const auto byte = static_cast<std::uint8_t>(text[i + k]);
      if (byte < (k == 1 ? shape.low : 0x80) || byte > (k == 1 ? shape.high : 0xbf)) return false;
    }
    i += shape.size;
  }
  return true;
}

}  // namespace drover::kube
