// Looks at single members of a text that `print` wrote (one line, well formed), without reading the rest of it.
#pragma once

#include <string>
#include <string_view>

namespace drover::kube {

class Peek {
 public:
  explicit Peek(std::string_view json) : json_(json) {}

  // The member of an object; nothing when there is none.
  [[nodiscard]] Peek member(std::string_view name) const;
  // "metadata.labels", member by member.
  [[nodiscard]] Peek at(std::string_view path) const;
  [[nodiscard]] bool given() const { return !json_.empty(); }
  // Nothing, null, "", [] or {}.
  [[nodiscard]] bool empty() const;
  // As it is printed.
  [[nodiscard]] std::string_view json() const { return json_; }
  // The string there; "" for anything else.
  [[nodiscard]] std::string text() const;

 private:
  std::string_view json_;
};

}  // namespace drover::kube
