#include "native/from_json.h"

namespace drover::native::json_detail {
namespace {

std::string place(const std::string& path) { return path.empty() ? "the whole" : printable(path); }

}  // namespace

Error wrong(const std::string& path, std::string_view wanted, const Json& found) {
  return {Errc::invalid,
          place(path) + ": expected " + std::string(wanted) + ", found " + std::string(kind_text(found))};
}

Error unknown(const std::string& path, std::string_view what, std::string_view word,
              const std::vector<std::string_view>& known) {
  std::string message = place(path) + ": unknown " + std::string(what) + " '" + printable(word, 60) + "'";
  const std::string_view meant = nearest_word(word, known);
  if (!meant.empty()) message += "; did you mean '" + std::string(meant) + "'?";
  return {Errc::invalid, std::move(message)};
}

}  // namespace drover::native::json_detail
