// The keepers of this cluster's nodes: processes that outlive agents on purpose, and end when the
// cluster is taken down for good.
#pragma once

#include <string>
#include <vector>

#include "base/time.h"
#include "cli/place.h"

namespace drover::cli {

// Ends them within `patience`; returns how many of them, or of shims whose jobs are still there, are left.
[[nodiscard]] int end_keepers_of(const Place& place, const std::vector<std::string>& nodes, Duration patience);

}  // namespace drover::cli
