// What is wrong with an object, field by field, in the words of an API server.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kube/json/value.h"
#include "kube/select/names.h"

namespace drover::kube {

// The place of a field: "spec.containers[0].name".
class Path {
 public:
  Path() = default;
  explicit Path(std::string_view text) : text_(text) {}
  [[nodiscard]] Path operator/(std::string_view name) const;
  [[nodiscard]] Path operator[](std::size_t index) const;
  [[nodiscard]] Path key(std::string_view key) const;  // data[key]
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

enum class ProblemKind : std::uint8_t {
  required,
  invalid,
  not_supported,
  forbidden,
  duplicate,
  too_long,
  too_many,
  not_found,
};

struct Problem {
  ProblemKind kind = ProblemKind::invalid;
  std::string field;
  std::string message;  // `Invalid value: "x": must be ...`, without the field

  // `spec.containers[0].image: Required value`.
  [[nodiscard]] std::string text() const { return field + ": " + message; }
  friend bool operator==(const Problem&, const Problem&) = default;
};

class Problems {
 public:
  void required(const Path& field, std::string_view detail = {});
  void invalid(const Path& field, const Value& value, std::string_view detail);
  void invalid(const Path& field, std::string_view value, std::string_view detail);
  void invalid(const Path& field, const char* value, std::string_view detail) {
    invalid(field, std::string_view(value), detail);
  }
  // One problem for each complaint about a name.
  void invalid(const Path& field, std::string_view value, const Complaints& complaints);
  void not_supported(const Path& field, std::string_view value,
                     const std::vector<std::string_view>& supported);
  void forbidden(const Path& field, std::string_view detail);
  void duplicate(const Path& field, std::string_view value);
  void not_found(const Path& field, std::string_view value);
  void too_long(const Path& field, std::size_t most_bytes);
  void too_many(const Path& field, std::size_t have, std::size_t most);
  // For the answer's Warning headers: it is accepted, and isn't all that its author may think.
  void warn(const Path& field, std::string_view text);
  void add(Problems more);

  [[nodiscard]] bool none() const { return list_.empty(); }
  [[nodiscard]] const std::vector<Problem>& list() const { return list_; }
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }
  // What stands behind `Pod "x" is invalid: `: the one, or `[a, b]`, each text once.
  [[nodiscard]] std::string text() const;
  // details.causes: {reason, message, field} of each.
  [[nodiscard]] Array causes() const;

 private:
  void put(ProblemKind kind, const Path& field, std::string message);

  std::vector<Problem> list_;
  std::vector<std::string> warnings_;
};

}  // namespace drover::kube
