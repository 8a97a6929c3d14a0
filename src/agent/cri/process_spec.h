// The specification of a command that is to run like a container's own program.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace drover::agent::cri {

// `container` is an OCI runtime specification (JSON text): its process with other arguments. All that
// gives the command its rights is kept as it stands.
[[nodiscard]] Result<std::string> process_like(std::string_view container, const std::vector<std::string>& command,
                                               bool terminal);

}  // namespace drover::agent::cri
