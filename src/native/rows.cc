#include "native/rows.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/text.h"

namespace drover::native {
namespace {

struct Prefix {
  std::size_t size = 0;    // of the row
  std::size_t length = 0;  // of the prefix; 0: incomplete
  bool broken = false;
};

Prefix read_prefix(std::string_view text) {
  Prefix prefix;
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < text.size() && i < 5; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    value |= std::uint64_t{byte & 0x7FU} << (7 * i);
    if (byte < 0x80) return {value, i + 1, false};
  }
  prefix.broken = text.size() >= 5;
  return prefix;
}

}  // namespace

Status RowCutter::feed(std::string_view piece, const std::function<Status(std::string_view)>& visit) {
  if (!rest_.empty()) {
    rest_ += piece;
    piece = rest_;
  }
  while (!piece.empty()) {
    const Prefix prefix = read_prefix(piece);
    if (prefix.broken || prefix.size > max_row_) return Error{Errc::invalid, "malformed list: a row's length"};
    if (prefix.length == 0 || piece.size() - prefix.length < prefix.size) break;
    TRY(visit(piece.substr(prefix.length, prefix.size)));
    piece.remove_prefix(prefix.length + prefix.size);
  }
  rest_ = std::string(piece);
  return Done{};
}

Result<std::vector<std::uint32_t>> pick_fields(const FieldNames& known, std::string_view names) {
  std::vector<std::uint32_t> numbers;
  for (const std::string_view name : split(names, ',')) {
    const auto it = std::ranges::find(known.names, name);
    if (it == known.names.end()) {
      std::string message = "unknown field '" + printable(name, 60) + "'";
      const std::string_view meant = nearest_word(name, known.names);
      if (!meant.empty()) message += "; did you mean '" + std::string(meant) + "'?";
      return Error{Errc::invalid, std::move(message)};
    }
    numbers.push_back(known.numbers[static_cast<std::size_t>(it - known.names.begin())]);
  }
  return numbers;
}

}  // namespace drover::native
