// Facts and queues as the short lines that scenario files hold.
#pragma once

#include <string>

#include "domain/cluster.h"
#include "domain/event.h"
#include "domain/refusal.h"

namespace drover::scenario {

// "+90s" since the start of the scenario.
[[nodiscard]] std::string since(Instant at);
// "" for facts that say nothing new to a reader.
[[nodiscard]] std::string show(const Cluster& cluster, const Event& event);
[[nodiscard]] std::string show(const Refusal& refusal);
[[nodiscard]] std::string show_placement(const Cluster& cluster, const Placement& placement);
[[nodiscard]] std::string show_queue(const Cluster& cluster);
[[nodiscard]] std::string show_steps(const Cluster& cluster);
[[nodiscard]] std::string show_nodes(const Cluster& cluster);

inline constexpr Instant kStart{std::chrono::hours(24 * 365 * 30)};

}  // namespace drover::scenario
