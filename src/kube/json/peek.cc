#include "kube/json/peek.h"

#include "base/text.h"
#include "kube/json/parse.h"

namespace drover::kube {
namespace {

// Behind the string that begins at `at`.
std::size_t behind_string(std::string_view json, std::size_t at) {
  for (++at; at < json.size() && json[at] != '"'; ++at) {
    if (json[at] == '\\') ++at;
  }
  return at + 1;
}

// Behind the value that begins at `at`.
std::size_t behind_value(std::string_view json, std::size_t at) {
  std::size_t depth = 0;
  while (at < json.size()) {
    const char c = json[at];
    if (c == '"') {
      at = behind_string(json, at);
      if (depth == 0) return at;
      continue;
    }
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') {
      if (depth == 0) return at;  // of the one around it
      if (--depth == 0) return at + 1;
    }
    if (c == ',' && depth == 0) return at;
    ++at;
  }
  return at;
}

}  // namespace

Peek Peek::member(std::string_view name) const {
  std::size_t at = 1;
  if (json_.empty() || json_[0] != '{') return Peek({});
  while (at < json_.size() && json_[at] == '"') {
    const std::size_t key_end = behind_string(json_, at);
    const std::string_view key = json_.substr(at + 1, key_end - at - 2);
    const std::size_t end = behind_value(json_, key_end + 1);  // behind the colon
    if (key == name) return Peek(json_.substr(key_end + 1, end - key_end - 1));
    at = end + 1;  // behind the comma
  }
  return Peek({});
}

Peek Peek::at(std::string_view path) const {
  Peek found = *this;
  for (const std::string_view name : split(path, '.')) found = found.member(name);
  return found;
}

bool Peek::empty() const { return json_.size() <= 2 || json_ == "null"; }

std::string Peek::text() const {
  if (json_.size() < 2 || json_[0] != '"') return {};
  if (json_.find('\\') == std::string_view::npos)
    return std::string(json_.substr(1, json_.size() - 2));
  const auto read = parse(json_);
  return read && read->is_string() ? std::string(read->get_string()) : std::string();
}

}  // namespace drover::kube
