// Queries as people type them into an address: ?user=ann&phase=running&limit=5.
#pragma once

#include "api/query.h"
#include "base/result.h"
#include "domain/history.h"
#include "wire/target.h"

namespace drover::native {

[[nodiscard]] Result<api::JobQuery> job_query(const wire::Target& target);
[[nodiscard]] Result<HistoryQuery> history_query(const wire::Target& target);
// "7" or "7_3".
[[nodiscard]] Result<JobRef> job_ref(std::string_view text);
[[nodiscard]] Result<api::StepQuery> step_query(const wire::Target& target);
// ?for=started&patience_ms=500
struct WaitQuery {
  bool for_start = false;  // else for the end
  std::optional<Duration> patience;
};
[[nodiscard]] Result<WaitQuery> wait_query(const wire::Target& target);

}  // namespace drover::native
