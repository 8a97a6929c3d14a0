// What is wrong with the fields of a body, and what a request's fieldValidation makes of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace drover::kube {

enum class FieldValidation : std::uint8_t { ignore, warn, strict };

// "Ignore", "Warn", "Strict"; "" is Warn, as with an API server since 1.27. Nothing for other
// texts.
[[nodiscard]] std::optional<FieldValidation> field_validation(std::string_view text);

// Paths such as "spec.containers[0].imag".
struct FieldProblems {
  std::vector<std::string> unknown;
  std::vector<std::string> duplicate;

  [[nodiscard]] bool none() const { return unknown.empty() && duplicate.empty(); }
  // `unknown field "spec.foo"`, `duplicate field "metadata.name"`: each one line.
  [[nodiscard]] std::vector<std::string> lines() const;
};

// Strict with problems is an error (400): `strict decoding error: unknown field "spec.containerz"`.
[[nodiscard]] Status check_fields(const FieldProblems& problems, FieldValidation mode);

// The values of the answer's Warning headers: `299 - "unknown field \"spec.foo\""`. At most 64.
[[nodiscard]] std::vector<std::string> warnings(const FieldProblems& problems,
                                                FieldValidation mode);

// One value of a Warning header with this text.
[[nodiscard]] std::string warning_header(std::string_view text);

}  // namespace drover::kube
