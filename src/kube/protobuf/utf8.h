// Whether bytes are a text.
#pragma once

#include <string_view>

namespace drover::kube {

// Well-formed UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
[[nodiscard]] bool is_utf8(std::string_view text);

}  // namespace drover::kube
