// scontrol show: blocks of Key=Value, or one line each with -o.
#pragma once

#include <string>

#include "api/query.h"
#include "slurm/render/job_text.h"
#include "slurm/render/node_text.h"

namespace drover::slurm {

struct ShowStyle {
  bool one_line = false;
  bool details = false;  // -d: CPU ids, GPU indexes
};

// With the blank line that ends a block (not with one_line). The job needs its spec.
[[nodiscard]] std::string show_job(const api::JobView& job, const Look& look, const ShowStyle& style);
// Its script, which Slurm calls a step.
[[nodiscard]] std::string show_step(const api::JobView& job, const Look& look, const ShowStyle& style);
[[nodiscard]] std::string show_step(const api::JobView& job, const api::StepView& step, const Look& look,
                                    const ShowStyle& style);
[[nodiscard]] std::string show_node(const api::NodeView& view, const Look& look, const ShowStyle& style);
[[nodiscard]] std::string show_partition(const api::PartitionView& view, const ShowStyle& style);
[[nodiscard]] std::string show_config(const api::Overview& overview, const Look& look);

}  // namespace drover::slurm
