// Values as JSON text, in one line. Numbers as Kubernetes prints them: 1 and not 1.0, 0.1, 1e+21.
#pragma once

#include <string>
#include <string_view>

#include "kube/json/value.h"

namespace drover::kube {

// Adds the text of `value` to `out`; reserve there what is known of the size.
void print(std::string& out, const Value& value);
[[nodiscard]] std::string print(const Value& value);

// Adds `text` in quotes, escaped.
void print_string(std::string& out, std::string_view text);

}  // namespace drover::kube
