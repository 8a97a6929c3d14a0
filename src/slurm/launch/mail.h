// The letters of --mail-type: to whom, and the subject line as Slurm writes it.
#pragma once

#include <optional>
#include <string>

#include "api/views.h"
#include "domain/event.h"

namespace drover::slurm {

struct Mail {
  std::string to;
  std::string subject;
};

// What a fact gives its job's owner to read, if he asked for it. `cluster` is the state after the fact.
// Without ARRAY_TASKS an array writes once when its first task starts and once when its last one ends.
[[nodiscard]] std::optional<Mail> mail_of(const Cluster& cluster, const Event& fact, const JobSpec& spec);

// The job that a fact may give reason to write about.
[[nodiscard]] JobId mail_subject(const Event& fact);

}  // namespace drover::slurm
