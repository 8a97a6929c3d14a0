#include "kube/object/problems.h"

#include <algorithm>

#include "base/text.h"
#include "kube/json/print.h"

namespace drover::kube {
namespace {

constexpr std::size_t kMost = 1000;  // no body has a use for more

std::string quoted(std::string_view text) {
  std::string out;
  print_string(out, text);
  return out;
}

std::string_view cause_of(ProblemKind kind) {
  switch (kind) {
    case ProblemKind::required:
      return "FieldValueRequired";
    case ProblemKind::invalid:
      return "FieldValueInvalid";
    case ProblemKind::not_supported:
      return "FieldValueNotSupported";
    case ProblemKind::forbidden:
      return "FieldValueForbidden";
    case ProblemKind::duplicate:
      return "FieldValueDuplicate";
    case ProblemKind::too_long:
      return "FieldValueTooLong";
    case ProblemKind::too_many:
      return "FieldValueTooMany";
    case ProblemKind::not_found:
      return "FieldValueNotFound";
  }
  return "";
}

std::string with_detail(std::string start, std::string_view detail) {
  return detail.empty() ? start : start.append(": ").append(detail);
}

}  // namespace

Path Path::operator/(std::string_view name) const {
  return Path(text_.empty() ? std::string(name) : text_ + "." + std::string(name));
}
Path Path::operator[](std::size_t index) const {
  return Path(text_ + "[" + std::to_string(index) + "]");
}
Path Path::key(std::string_view key) const { return Path(text_ + "[" + std::string(key) + "]"); }

void Problems::put(ProblemKind kind, const Path& field, std::string message) {
  if (list_.size() >= kMost) return;
  list_.push_back({.kind = kind, .field = field.text(), .message = std::move(message)});
}

void Problems::required(const Path& field, std::string_view detail) {
  put(ProblemKind::required, field, with_detail("Required value", detail));
}

void Problems::invalid(const Path& field, const Value& value, std::string_view detail) {
  put(ProblemKind::invalid, field, with_detail("Invalid value: " + print(value), detail));
}

void Problems::invalid(const Path& field, std::string_view value, std::string_view detail) {
  put(ProblemKind::invalid, field, with_detail("Invalid value: " + quoted(value), detail));
}

void Problems::invalid(const Path& field, std::string_view value, const Complaints& complaints) {
  for (const std::string& complaint : complaints) invalid(field, value, complaint);
}

void Problems::not_supported(const Path& field, std::string_view value,
                             const std::vector<std::string_view>& supported) {
  std::vector<std::string> words;
  for (const std::string_view word : supported) words.push_back(quoted(word));
  put(ProblemKind::not_supported, field,
      "Unsupported value: " + quoted(value) + ": supported values: " + join(words, ", "));
}

void Problems::forbidden(const Path& field, std::string_view detail) {
  put(ProblemKind::forbidden, field, with_detail("Forbidden", detail));
}

void Problems::duplicate(const Path& field, std::string_view value) {
  put(ProblemKind::duplicate, field, "Duplicate value: " + quoted(value));
}

void Problems::not_found(const Path& field, std::string_view value) {
  put(ProblemKind::not_found, field, "Not found: " + quoted(value));
}

void Problems::too_long(const Path& field, std::size_t most_bytes) {
  put(ProblemKind::too_long, field,
      "Too long: may not be more than " + std::to_string(most_bytes) + " bytes");
}

void Problems::too_many(const Path& field, std::size_t have, std::size_t most) {
  put(ProblemKind::too_many, field,
      "Too many: " + std::to_string(have) + ": must have at most " + std::to_string(most) +
          " items");
}

void Problems::warn(const Path& field, std::string_view text) {
  if (warnings_.size() < 64) warnings_.push_back(field.text() + ": " + std::string(text));
}

void Problems::add(Problems more) {
  for (Problem& problem : more.list_) {
    if (list_.size() < kMost) list_.push_back(std::move(problem));
  }
  std::ranges::move(more.warnings_, std::back_inserter(warnings_));
}

std::string Problems::text() const {
  std::vector<std::string> texts;
  for (const Problem& problem : list_) {
    std::string text = problem.text();
    if (std::ranges::find(texts, text) == texts.end()) texts.push_back(std::move(text));
  }
  return texts.size() == 1 ? texts.front() : "[" + join(texts, ", ") + "]";
}

Array Problems::causes() const {
  Array causes;
  for (const Problem& problem : list_) {
    causes.push_back(Object{{"reason", cause_of(problem.kind)},
                            {"message", problem.message},
                            {"field", problem.field}});
  }
  return causes;
}

}  // namespace drover::kube
