// From a placed job of this door to what its first node is told to start.
#pragma once

#include <string>
#include <string_view>

#include "api/views.h"
#include "domain/session.h"

namespace drover::slurm {

// The job's files, patterns expanded, relative ones in its working folder. err is "" when standard
// error goes where standard output goes.
struct JobFiles {
  std::string in;
  std::string out;
  std::string err;
};
[[nodiscard]] JobFiles job_files(const api::JobView& job);  // with its spec

// Fills in environment, arguments, work_dir and files. `environment` is as submitted, NUL-separated.
void fill_batch(const Cluster& cluster, const Job& job, const JobSpec& spec, std::string_view environment,
                Launch& launch);

}  // namespace drover::slurm
