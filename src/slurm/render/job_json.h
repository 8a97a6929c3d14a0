// squeue --json.
#pragma once

#include <string>
#include <vector>

#include "slurm/render/job_text.h"

namespace drover::slurm {

[[nodiscard]] std::string jobs_json(const std::vector<api::JobView>& jobs, const Look& look);

}  // namespace drover::slurm
