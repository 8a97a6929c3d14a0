// The keepers of this cluster's nodes: processes that outlive agents on purpose, and end when the
// cluster is taken down for good.
#pragma once

#include "base/time.h"
#include "cli/place.h"

namespace drover::cli {

// Ends them, and what their jobs left, within `patience`; returns how many processes are still there.
[[nodiscard]] int end_keepers_of(const Place& place, Duration patience);

}  // namespace drover::cli
