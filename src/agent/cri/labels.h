// How our containers are told from those of others in one containerd.
#pragma once

#include <string_view>

namespace drover::agent::cri {

inline constexpr const char* kPodLabel = "drover.pod";    // "17.1"
inline constexpr const char* kNodeLabel = "drover.node";

// Names that mean something to us or to the runtime: a user's labels of such names aren't passed on.
[[nodiscard]] bool is_own_label(std::string_view name);

}  // namespace drover::agent::cri
