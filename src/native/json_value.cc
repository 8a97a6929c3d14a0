// Boost.JSON's grammar behind a handler of our own.
#include "native/json_value.h"

#include <boost/json/basic_parser_impl.hpp>

#include <algorithm>

#include "base/text.h"

namespace drover::native {
namespace {

using Ec = boost::json::error_code;
using Piece = boost::json::string_view;

// Receives the parser's calls. False stops it; `refused` then says why.
class Builder {
 public:
  static constexpr std::size_t max_object_size = std::size_t(-1);
  static constexpr std::size_t max_array_size = std::size_t(-1);
  static constexpr std::size_t max_key_size = std::size_t(-1);
  static constexpr std::size_t max_string_size = std::size_t(-1);

  Json root;
  std::string refused;

  bool on_document_begin(Ec&) { return true; }
  bool on_document_end(Ec&) { return true; }
  bool on_object_begin(Ec&) { return open(Json::Kind::object); }
  bool on_object_end(std::size_t, Ec&) {
    Json& object = *open_.back();
    std::vector<std::string_view> names;
    for (const auto& [name, value] : object.members) names.push_back(name);
    std::ranges::sort(names);
    const auto twice = std::ranges::adjacent_find(names);
    if (twice != names.end()) {
      refused = "member '" + printable(*twice) + "' stands there twice";
      return false;
    }
    return close();
  }
  bool on_array_begin(Ec&) { return open(Json::Kind::list); }
  bool on_array_end(std::size_t, Ec&) { return close(); }
  bool on_key_part(Piece piece, std::size_t, Ec&) { return collect(piece); }
  bool on_key(Piece piece, std::size_t, Ec&) {
    collect(piece);
    key_ = std::exchange(text_, {});
    return true;
  }
  bool on_string_part(Piece piece, std::size_t, Ec&) { return collect(piece); }
  bool on_string(Piece piece, std::size_t, Ec&) {
    collect(piece);
    add(Json::Kind::text).text = std::exchange(text_, {});
    return true;
  }
  bool on_number_part(Piece, Ec&) { return true; }
  bool on_int64(std::int64_t value, Piece, Ec&) {
    add(Json::Kind::integer).integer = value;
    return true;
  }
  bool on_uint64(std::uint64_t value, Piece, Ec&) {
    add(Json::Kind::natural).natural = value;
    return true;
  }
  bool on_double(double value, Piece, Ec&) {
    add(Json::Kind::real).real = value;
    return true;
  }
  bool on_bool(bool value, Ec&) {
    add(Json::Kind::boolean).boolean = value;
    return true;
  }
  bool on_null(Ec&) {
    add(Json::Kind::null);
    return true;
  }
  bool on_comment_part(Piece, Ec&) { return true; }
  bool on_comment(Piece, Ec&) { return true; }

 private:
  bool collect(Piece piece) {
    text_.append(piece.data(), piece.size());
    return true;
  }
  Json& add(Json::Kind kind) {
    Json* place = &root;
    if (!open_.empty()) {
      Json& parent = *open_.back();
      if (parent.kind == Json::Kind::object) {
        place = &parent.members.emplace_back(std::exchange(key_, {}), Json{}).second;
      } else {
        place = &parent.items.emplace_back();
      }
    }
    place->kind = kind;
    return *place;
  }
  // Only the innermost open value grows, so the addresses of the others stay.
  bool open(Json::Kind kind) {
    open_.push_back(&add(kind));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  std::vector<Json*> open_;
  std::string key_;
  std::string text_;
};

}  // namespace

const Json* Json::member(std::string_view name) const {
  const auto it = std::ranges::find(members, name, &std::pair<std::string, Json>::first);
  return it == members.end() ? nullptr : &it->second;
}

std::string_view kind_text(const Json& json) {
  switch (json.kind) {
    case Json::Kind::null: return "null";
    case Json::Kind::boolean: return "true or false";
    case Json::Kind::integer:
    case Json::Kind::natural: return "a whole number";
    case Json::Kind::real: return "a fraction or a number too large";
    case Json::Kind::text: return "a text";
    case Json::Kind::list: return "a list";
    case Json::Kind::object: return "an object";
  }
  return "nothing";
}

Result<Json> parse_json(std::string_view text, std::size_t max_size) {
  if (text.size() > max_size) return Error{Errc::invalid, "the JSON text is too large"};
  boost::json::parse_options options;
  options.max_depth = 64;
  boost::json::basic_parser<Builder> parser(options);
  Ec error;
  const std::size_t used = parser.write_some(false, text.data(), text.size(), error);
  if (!parser.handler().refused.empty()) return Error{Errc::invalid, "JSON: " + parser.handler().refused};
  if (!error && used < text.size()) error = boost::json::error::extra_data;
  if (error) {
    return Error{Errc::invalid, "JSON: " + error.message() + " at byte " + std::to_string(used)};
  }
  return std::move(parser.handler().root);
}

}  // namespace drover::native
