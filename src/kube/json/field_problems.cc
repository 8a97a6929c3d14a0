#include "kube/json/field_problems.h"

#include "base/text.h"

namespace drover::kube {

std::optional<FieldValidation> field_validation(std::string_view text) {
  if (text.empty() || text == "Warn") return FieldValidation::warn;
  if (text == "Strict") return FieldValidation::strict;
  if (text == "Ignore") return FieldValidation::ignore;
  return std::nullopt;
}

std::vector<std::string> FieldProblems::lines() const {
  std::vector<std::string> all;
  for (const std::string& path : unknown) all.push_back("unknown field \"" + path + "\"");
  for (const std::string& path : duplicate) all.push_back("duplicate field \"" + path + "\"");
  return all;
}

Status check_fields(const FieldProblems& problems, FieldValidation mode) {
  if (mode != FieldValidation::strict || problems.none()) return Done{};
  return Error{Errc::invalid, "strict decoding error: " + join(problems.lines(), ", ")};
}

std::string warning_header(std::string_view text) {
  std::string header = "299 - \"";
  for (const char character : text) {
    if (character == '"' || character == '\\') header += '\\';
    // A header is one line of text, whatever a field is called.
    header += character >= ' ' && character != '\x7f' ? character : ' ';
  }
  return header + '"';
}

std::vector<std::string> warnings(const FieldProblems& problems, FieldValidation mode) {
  std::vector<std::string> headers;
  if (mode != FieldValidation::warn) return headers;
  for (const std::string& line : problems.lines()) {
    if (headers.size() == 64) break;
    headers.push_back(warning_header(line));
  }
  return headers;
}

}  // namespace drover::kube
