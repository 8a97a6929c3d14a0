// A second reading of a text, made only when the first one counted more members than it kept.
#include "kube/json/duplicates.h"

#include <boost/json/basic_parser_impl.hpp>

#include <algorithm>
#include <set>

namespace drover::kube {
namespace {

using Ec = boost::json::error_code;
using Piece = boost::json::string_view;
constexpr std::size_t kMost = 64;

struct Level {
  std::set<std::string> keys;
  std::string key;        // of the member being read
  std::size_t index = 0;  // of the item being read
  bool object = false;
};

class Finder {
 public:
  static constexpr std::size_t max_object_size = std::size_t(-1);
  static constexpr std::size_t max_array_size = std::size_t(-1);
  static constexpr std::size_t max_key_size = std::size_t(-1);
  static constexpr std::size_t max_string_size = std::size_t(-1);

  std::vector<std::string> found;

  bool on_document_begin(Ec&) { return true; }
  bool on_document_end(Ec&) { return true; }
  bool on_object_begin(Ec&) { return open(true); }
  bool on_object_end(std::size_t, Ec&) { return close(); }
  bool on_array_begin(Ec&) { return open(false); }
  bool on_array_end(std::size_t, Ec&) { return close(); }
  bool on_key_part(Piece piece, std::size_t, Ec&) {
    key_.append(piece.data(), piece.size());
    return true;
  }
  bool on_key(Piece piece, std::size_t, Ec&) {
    key_.append(piece.data(), piece.size());
    Level& level = levels_.back();
    level.key = std::exchange(key_, {});
    if (!level.keys.insert(level.key).second) note();
    return found.size() < kMost;
  }
  bool on_string_part(Piece, std::size_t, Ec&) { return true; }
  bool on_string(Piece, std::size_t, Ec&) { return scalar(); }
  bool on_number_part(Piece, Ec&) { return true; }
  bool on_int64(std::int64_t, Piece, Ec&) { return scalar(); }
  bool on_uint64(std::uint64_t, Piece, Ec&) { return scalar(); }
  bool on_double(double, Piece, Ec&) { return scalar(); }
  bool on_bool(bool, Ec&) { return scalar(); }
  bool on_null(Ec&) { return scalar(); }
  bool on_comment_part(Piece, Ec&) { return true; }
  bool on_comment(Piece, Ec&) { return true; }

 private:
  bool open(bool object) {
    levels_.push_back({.object = object});
    return true;
  }
  bool close() {
    levels_.pop_back();
    return scalar();
  }
  bool scalar() {
    if (!levels_.empty()) ++levels_.back().index;
    return true;
  }
  void note() {
    std::string path;
    for (const Level& level : levels_) {
      if (!level.object) {
        path += "[" + std::to_string(level.index) + "]";
      } else {
        path += (path.empty() ? "" : ".") + level.key;
      }
    }
    if (std::ranges::find(found, path) == found.end()) found.push_back(std::move(path));
  }

  std::vector<Level> levels_;
  std::string key_;
};

}  // namespace

std::vector<std::string> duplicate_members(std::string_view json, std::size_t depth) {
  boost::json::parse_options options;
  options.max_depth = depth;
  boost::json::basic_parser<Finder> parser(options);
  Ec ignored;  // Only says that enough was found.
  parser.write_some(false, json.data(), json.size(), ignored);
  return std::move(parser.handler().found);
}

}  // namespace drover::kube
