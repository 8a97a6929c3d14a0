#include "kube/json/print.h"

#include <array>
#include <charconv>
#include <cmath>

namespace drover::kube {
namespace {

constexpr std::string_view kHex = "0123456789abcdef";

// Which bytes a JSON string cannot hold as they are.
constexpr std::array<bool, 256> special_bytes() {
  std::array<bool, 256> special{};
  for (std::size_t byte = 0; byte < 0x20; ++byte) special[byte] = true;
  special['"'] = special['\\'] = true;
  return special;
}
constexpr std::array<bool, 256> kSpecial = special_bytes();

void escape(std::string& out, char character) {
  switch (character) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  const auto byte = static_cast<unsigned char>(character);
  out += "\\u00";
  out += kHex[byte >> 4U];
  out += kHex[byte & 15U];
}

template <class Number>
void print_integer(std::string& out, Number number) {
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
}

// The shortest text that reads back the same; with an exponent only where digits would be many.
void print_double(std::string& out, double number) {
  const double amount = std::fabs(number);
  const bool plain = amount == 0 || (amount >= 1e-6 && amount < 1e21);
  std::array<char, 64> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number,
                                 plain ? std::chars_format::fixed : std::chars_format::scientific)
                       .ptr;
  std::string_view text(digits.data(), static_cast<std::size_t>(end - digits.data()));
  const auto zero = text.find("e-0");  // 1e-7 and not 1e-07
  if (zero == std::string_view::npos) {
    out += text;
  } else {
    out.append(text.substr(0, zero + 2)).append(text.substr(zero + 3));
  }
}

void print_object(std::string& out, const Object& object) {
  out += '{';
  bool first = true;
  for (const auto& entry : object) {
    if (!first) out += ',';
    first = false;
    print_string(out, entry.key());
    out += ':';
    print(out, entry.value());
  }
  out += '}';
}

void print_array(std::string& out, const Array& array) {
  out += '[';
  bool first = true;
  for (const Value& item : array) {
    if (!first) out += ',';
    first = false;
    print(out, item);
  }
  out += ']';
}

}  // namespace

void print_string(std::string& out, std::string_view text) {
  out += '"';
  std::size_t done = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!kSpecial[static_cast<unsigned char>(text[at])]) continue;
    out.append(text.substr(done, at - done));
    escape(out, text[at]);
    done = at + 1;
  }
  out.append(text.substr(done));
  out += '"';
}

void print(std::string& out, const Value& value) {
  switch (value.kind()) {
    case boost::json::kind::null:
      out += "null";
      return;
    case boost::json::kind::bool_:
      out += value.get_bool() ? "true" : "false";
      return;
    case boost::json::kind::int64:
      print_integer(out, value.get_int64());
      return;
    case boost::json::kind::uint64:
      print_integer(out, value.get_uint64());
      return;
    case boost::json::kind::double_:
      print_double(out, value.get_double());
      return;
    case boost::json::kind::string:
      print_string(out, value.get_string());
      return;
    case boost::json::kind::array:
      print_array(out, value.get_array());
      return;
    case boost::json::kind::object:
      print_object(out, value.get_object());
      return;
  }
}

std::string print(const Value& value) {
  std::string out;
  print(out, value);
  return out;
}

}  // namespace drover::kube
