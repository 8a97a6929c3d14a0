// YAML bodies as JSON values, as API servers read them: one document, keys that are texts, plain words typed by YAML
// 1.1's rules (`yes` is true, 0644 is octal). Anchors and aliases are refused: they make small bodies large.
#pragma once

#include <string>

#include "kube/json/parse.h"

namespace drover::kube {

// Errc::exhausted for a text that is too large or too deep, else Errc::invalid: "line 3: did not find expected key".
[[nodiscard]] Result<Parsed> parse_yaml(const std::string& text, ParseLimits limits = {});

}  // namespace drover::kube
