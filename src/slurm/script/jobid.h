// Job and step ids as people type them: 123, 123_4, 123_[0-3,7], 123+0, 123.batch, 123_4.0.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace drover::slurm {

struct JobRef {
  std::uint64_t job = 0;
  std::vector<std::uint32_t> tasks;        // empty: the job itself, or every task of an array
  std::optional<std::uint32_t> component;  // of a heterogeneous job
  std::string step;                        // "", "batch", "extern", "0" ...
  friend bool operator==(const JobRef&, const JobRef&) = default;
};

[[nodiscard]] Result<JobRef> parse_job_ref(std::string_view text);

// "1,2_[0-3,5],7.batch": the commas inside brackets don't separate.
[[nodiscard]] Result<std::vector<JobRef>> parse_job_refs(std::string_view text);

}  // namespace drover::slurm
