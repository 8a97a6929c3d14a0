// A parsed JSON text. Numbers keep their kind, members their order. Strict: no duplicate members, no
// comments, at most 64 levels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace drover::native {

struct Json {
  enum class Kind : std::uint8_t { null, boolean, integer, natural, real, text, list, object };
  Kind kind = Kind::null;
  bool boolean = false;
  std::int64_t integer = 0;   // Kind::integer
  std::uint64_t natural = 0;  // Kind::natural: above the largest int64
  double real = 0;
  std::string text;
  std::vector<Json> items;
  std::vector<std::pair<std::string, Json>> members;

  [[nodiscard]] const Json* member(std::string_view name) const;
};

// "a whole number", "a text": for messages.
[[nodiscard]] std::string_view kind_text(const Json& json);

inline constexpr std::size_t kMaxJson = 16U << 20U;
[[nodiscard]] Result<Json> parse_json(std::string_view text, std::size_t max_size = kMaxJson);

}  // namespace drover::native
