// Whether what a job depends on has happened (sbatch(1) --dependency).
#pragma once

#include <cstdint>
#include <optional>

#include "domain/cluster.h"
#include "domain/facts.h"
#include "domain/refusal.h"

namespace drover {

enum class TermState : std::uint8_t { open, met, never };

// `task`: of the dependent job in its own array, for after_corr; kNoTask for none.
[[nodiscard]] TermState state_of(const Cluster& cluster, const Job& job, const DependencyTerm& term,
                                 std::uint32_t task, Instant now);

// Drops what is met and notes what never can be; cancels the job then if it asked for that. For an
// array with after_corr, splits off the tasks whose counterpart has ended.
void settle_dependency(Facts& facts, JobId job, Instant now);

// Checks the terms of a wish: unknown jobs (for after and after_any those count as met and are
// dropped), the job itself, cycles. `job`: the one that would depend; none for a new one.
[[nodiscard]] std::optional<Refusal> check_dependency(const Cluster& cluster, Dependency& dependency, JobId job);

}  // namespace drover
