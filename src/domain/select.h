// Which records a JobSelector means. Splitting single tasks off an array is the caller's business
// (domain/decide); here a record that stands for several tasks is one record.
#pragma once

#include <functional>

#include "domain/cluster.h"
#include "domain/command.h"

namespace drover {

// Does the job pass every filter of the selector (users, names, partitions, ...)? Ids don't count.
[[nodiscard]] bool passes(const Cluster& cluster, const Job& job, const JobSelector& selector);

// Names jobs or filters at all. An empty selector means everything to a reader and nothing to a wish.
[[nodiscard]] bool selects_anything(const JobSelector& selector);

// The records that `ref` names: the job itself, all members of an array, or the records of single
// tasks; in id order, each once. Empty: there is no such job or task.
[[nodiscard]] std::vector<JobId> records_of(const Cluster& cluster, const JobRef& ref);

}  // namespace drover
