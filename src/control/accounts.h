// The accounts as a fold of the log: which facts end an attempt, and the row that says so.
#pragma once

#include <optional>

#include "control/payloads.h"
#include "domain/cluster.h"
#include "domain/history.h"

namespace drover::control {

// The row of a job as it stands: of its current attempt, or of its wait for the next one.
[[nodiscard]] HistoryRow history_row(const Cluster& cluster, const Job& job, Payloads& payloads);

[[nodiscard]] StepRow step_row(const Cluster& cluster, const Job& job, const Step& step);

// The row that a fact completes, if it ends an attempt. `cluster` is the state after the fact.
[[nodiscard]] std::optional<HistoryRow> ended_row(const Cluster& cluster, const Event& event, Payloads& payloads);

}  // namespace drover::control
