// The parts of a job's environment that its batch script and its steps share.
#pragma once

#include <string_view>

#include "slurm/launch/environment.h"

namespace drover::slurm {

// Variables that tell of the job they stand in. Those of the submitter's own job mustn't reach
// another.
[[nodiscard]] bool tells_of_a_job(std::string_view name);
void describe_job(Environment& env, const api::JobView& job, const LaunchFacts& facts);
void describe_array(Environment& env, const api::JobView& job, const LaunchFacts& facts);
void describe_nodes(Environment& env, const api::JobView& job);
void describe_request(Environment& env, const api::JobView& job);
[[nodiscard]] std::vector<std::string> environment_list(const Environment& env);  // NAME=value

}  // namespace drover::slurm
