// Which members of a JSON text stand there more than once.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace drover::kube {

// Paths such as "spec.containers[0].image", each once, in the order met, at most 64. The text has
// been parsed before, so it is well-formed and no deeper than `depth`.
[[nodiscard]] std::vector<std::string> duplicate_members(std::string_view json, std::size_t depth);

}  // namespace drover::kube
