// The order in which people count names: n2 before n10, a9 before b1.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

namespace drover {

// Runs of digits compare as numbers (any length), everything else byte by byte; of two names that
// only differ in leading zeros the shorter comes first. A total order.
[[nodiscard]] inline bool name_less(std::string_view a, std::string_view b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto run = [&](std::string_view text, std::size_t from) {
    std::size_t end = from;
    while (end < text.size() && digit(text[end])) ++end;
    std::string_view digits = text.substr(from, end - from);
    digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
    return std::pair(digits, end);
  };
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (digit(a[i]) && digit(b[j])) {
      const auto [x, after_x] = run(a, i);
      const auto [y, after_y] = run(b, j);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
      i = after_x;
      j = after_y;
    } else if (a[i] != b[j]) {
      return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]);
    } else {
      ++i;
      ++j;
    }
  }
  if ((i < a.size()) != (j < b.size())) return j < b.size();
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

}  // namespace drover
