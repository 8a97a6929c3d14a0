// squeue's tables, from views to bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "slurm/render/format.h"
#include "slurm/render/job_fields.h"

namespace drover::slurm {

inline constexpr std::string_view kQueueFormat = "%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R";
inline constexpr std::string_view kQueueLong = "%.18i %.9P %.8j %.8u %.8T %.10M %.9l %.6D %R";
inline constexpr std::string_view kQueueStart = "%.18i %.9P %.8j %.8u %.2t %.19S %.6D %20Y %R";
inline constexpr std::string_view kStepFormat = "%.15i %.8j %.9P %.8u %.9M %N";

// "%all" is every letter with bars between.
[[nodiscard]] Layout job_layout(std::string_view letters);
[[nodiscard]] Layout step_layout(std::string_view letters);
[[nodiscard]] Reads layout_reads(const Layout& layout);  // the most that any column does

// Sort keys of -S: letters of -o with "-" for falling, "P,t,-p".
[[nodiscard]] Result<bool> sort_jobs(std::vector<api::JobView>& jobs, std::string_view keys, Instant now);

[[nodiscard]] std::string job_header(const Layout& layout);
void add_job_line(std::string& text, const Layout& layout, const api::JobView& job, const Look& look);

// Steps: today each running job has its batch step.
[[nodiscard]] std::string step_header(const Layout& layout);
// What `squeue -s` shows in a line: a running job's batch script, or one of its steps.
struct StepLine {
  const api::JobView& job;
  const api::StepView* step = nullptr;
};
[[nodiscard]] std::string step_line(const Layout& layout, const StepLine& line, const Look& look);

}  // namespace drover::slurm
