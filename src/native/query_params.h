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
// The one number `name`, or `otherwise`.
[[nodiscard]] Result<std::uint64_t> number_param(const wire::Target& target, std::string_view name,
                                                 std::uint64_t otherwise);

}  // namespace drover::native
