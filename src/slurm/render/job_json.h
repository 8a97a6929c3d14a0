// Jobs as JSON: squeue --json, scontrol show job --json, scontrol listjobs --json.
#pragma once

#include <string>
#include <vector>

#include "slurm/render/job_text.h"

namespace drover::slurm {

[[nodiscard]] std::string jobs_json(const std::vector<api::JobView>& jobs, const Look& look);
[[nodiscard]] std::string job_ids_json(const std::vector<JobId>& jobs);

}  // namespace drover::slurm
