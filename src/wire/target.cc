#include "wire/target.h"

#include <cstdint>

#include "base/text.h"

namespace drover::wire {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

Result<std::string> percent_decode(std::string_view text, bool plus_is_blank) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '+' && plus_is_blank) c = ' ';
    if (c == '%') {
      const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
      if (high < 0 || low < 0) return Error{Errc::invalid, "broken %XX in the address"};
      c = static_cast<char>(high * 16 + low);
      i += 2;
    }
    if (c == '\0') return Error{Errc::invalid, "a NUL in the address"};
    result += c;
  }
  return result;
}

}  // namespace

Result<Target> parse_target(std::string_view text) {
  if (!text.starts_with('/')) return Error{Errc::invalid, "the address does not begin with a slash"};
  Target target;
  const auto mark = text.find('?');
  std::string_view path = text.substr(1, mark == std::string_view::npos ? mark : mark - 1);
  if (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  for (const std::string_view part : split(path, '/')) {
    std::string segment = TRY(percent_decode(part, false));
    if (segment.empty() || segment == "." || segment == "..") {
      return Error{Errc::invalid, "an empty or dotted segment in the address"};
    }
    target.path.push_back(std::move(segment));
  }
  if (mark == std::string_view::npos) return target;
  for (const std::string_view pair : split(text.substr(mark + 1), '&')) {
    if (pair.empty()) continue;
    const auto equals = pair.find('=');
    std::string value;
    if (equals != std::string_view::npos) value = TRY(percent_decode(pair.substr(equals + 1), true));
    target.query.emplace_back(TRY(percent_decode(pair.substr(0, equals), true)), std::move(value));
  }
  return target;
}

std::string percent_encode(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string result;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                       c == '.' || c == '_' || c == '~';
    if (plain) {
      result += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      result += {'%', kHex[byte >> 4U], kHex[byte & 15U]};
    }
  }
  return result;
}

}  // namespace drover::wire
