// Terms about other pods, asked in the plainest way: of all jobs and all nodes, each time anew.
#pragma once

#include <string>

#include "domain/cluster.h"

namespace drover::property {

// What is wrong with the place of a job that was just put there, as to its terms and those of
// others; "" nothing.
[[nodiscard]] std::string broken_term(const Cluster& cluster, const Job& job);

}  // namespace drover::property
