// Boost.JSON's grammar behind a handler of our own: it counts members, so that none is lost unseen,
// and reads doubles exactly (the library's own are up to a few bits off).
#include "kube/json/parse.h"

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/value_stack.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "kube/json/duplicates.h"

namespace drover::kube {
namespace {

using Ec = boost::json::error_code;
using Piece = boost::json::string_view;

class Builder {
 public:
  static constexpr std::size_t max_object_size = Object::max_size();
  static constexpr std::size_t max_array_size = Array::max_size();
  static constexpr std::size_t max_key_size = boost::json::string::max_size();
  static constexpr std::size_t max_string_size = boost::json::string::max_size();

  Builder(unsigned char* temporary, std::size_t size, boost::json::storage_ptr storage)
      : stack({}, temporary, size) {
    stack.reset(std::move(storage));
  }

  boost::json::value_stack stack;
  std::size_t members = 0;

  bool on_document_begin(Ec&) { return true; }
  bool on_document_end(Ec&) { return true; }
  bool on_object_begin(Ec&) { return true; }
  bool on_object_end(std::size_t count, Ec&) {
    members += count;
    stack.push_object(count);
    return true;
  }
  bool on_array_begin(Ec&) { return true; }
  bool on_array_end(std::size_t count, Ec&) {
    stack.push_array(count);
    return true;
  }
  bool on_key_part(Piece piece, std::size_t, Ec&) { return chars(piece); }
  bool on_key(Piece piece, std::size_t, Ec&) {
    stack.push_key(piece);
    return true;
  }
  bool on_string_part(Piece piece, std::size_t, Ec&) { return chars(piece); }
  bool on_string(Piece piece, std::size_t, Ec&) {
    stack.push_string(piece);
    return true;
  }
  bool on_number_part(Piece, Ec&) { return true; }
  bool on_int64(std::int64_t value, Piece, Ec&) {
    stack.push_int64(value);
    return true;
  }
  bool on_uint64(std::uint64_t value, Piece, Ec&) {
    stack.push_uint64(value);
    return true;
  }
  // The text comes in one piece, with all of the number in it.
  bool on_double(double value, Piece number, Ec& error) {
    double exact = value;
    std::from_chars(number.data(), number.data() + number.size(), exact);
    if (!std::isfinite(exact)) {
      error = boost::json::error::exponent_overflow;
      return false;
    }
    stack.push_double(exact);
    return true;
  }
  bool on_bool(bool value, Ec&) {
    stack.push_bool(value);
    return true;
  }
  bool on_null(Ec&) {
    stack.push_null();
    return true;
  }
  bool on_comment_part(Piece, Ec&) { return true; }
  bool on_comment(Piece, Ec&) { return true; }

 private:
  bool chars(Piece piece) {
    stack.push_chars(piece);
    return true;
  }
};

std::size_t members_of(const Value& value) {
  std::size_t total = 0;
  if (const Object* object = value.if_object()) {
    total = object->size();
    for (const auto& entry : *object) total += members_of(entry.value());
  } else if (const Array* array = value.if_array()) {
    for (const Value& item : *array) total += members_of(item);
  }
  return total;
}

std::string shown(char character) {
  if (character >= ' ' && character <= '~') return std::string{'\'', character, '\''};
  std::array<char, 8> hex{};
  std::snprintf(hex.data(), hex.size(), "'\\x%02x'", static_cast<unsigned char>(character));
  return hex.data();
}

Error refusal(Ec error, std::string_view json, std::size_t used, const ParseLimits& limits) {
  namespace json_error = boost::json;
  if (error == json_error::error::incomplete)
    return {Errc::invalid, "unexpected end of JSON input"};
  if (error == json_error::error::too_deep) {
    return {Errc::invalid,
            "the JSON is nested deeper than " + std::to_string(limits.depth) + " levels"};
  }
  if (used >= json.size()) return {Errc::invalid, error.message()};
  const std::string character = "invalid character " + shown(json[used]);
  if (error == json_error::error::extra_data) {
    return {Errc::invalid, character + " after top-level value"};
  }
  return {Errc::invalid, character + " at byte " + std::to_string(used)};
}

}  // namespace

Result<Parsed> parse_noting_duplicates(std::string_view json, ParseLimits limits,
                                       boost::json::storage_ptr storage) {
  if (json.size() > limits.bytes) {
    return Error{Errc::exhausted, "limit is " + std::to_string(limits.bytes) + " bytes"};
  }
  std::array<unsigned char, 4096> temporary;
  boost::json::parse_options options;
  options.max_depth = limits.depth;
  boost::json::basic_parser<Builder> parser(options, temporary.data(), temporary.size(),
                                            std::move(storage));
  Ec error;
  const std::size_t used = parser.write_some(false, json.data(), json.size(), error);
  if (!error && used < json.size()) error = boost::json::error::extra_data;
  if (error) return refusal(error, json, used, limits);
  Parsed parsed{parser.handler().stack.release(), {}};
  if (members_of(parsed.value) != parser.handler().members) {
    parsed.duplicates = duplicate_members(json, limits.depth);
  }
  return parsed;
}

Result<Value> parse(std::string_view json, ParseLimits limits, boost::json::storage_ptr storage) {
  Parsed parsed = TRY(parse_noting_duplicates(json, limits, std::move(storage)));
  if (!parsed.duplicates.empty()) {
    return Error{Errc::invalid, "duplicate field \"" + parsed.duplicates.front() + "\""};
  }
  return std::move(parsed.value);
}

}  // namespace drover::kube
