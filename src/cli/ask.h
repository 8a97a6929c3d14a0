// What the verbs of `drover` ask of a running controller.
#pragma once

#include "base/result.h"
#include "cli/place.h"
#include "cli/view.h"

namespace drover::cli {

[[nodiscard]] Result<ClusterView> look(const Place& place);
// The view as one JSON object: overview and nodes, as the native API gives them.
[[nodiscard]] std::string view_json(const ClusterView& view);
// Closes every partition, so that nothing new starts, and cancels the jobs that run. Waiting jobs
// stay in the queue.
[[nodiscard]] Status end_running_jobs(const Place& place);

}  // namespace drover::cli
