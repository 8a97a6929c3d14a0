// Base64 with padding, as secrets hold bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace drover::kube {

[[nodiscard]] std::string to_base64(std::string_view bytes);
// Line ends between the letters are passed over, as Go does; nothing for what isn't base64.
[[nodiscard]] std::optional<std::string> from_base64(std::string_view text);

}  // namespace drover::kube
