// The columns of squeue: letters of -o, names of -O, and which view fields each one reads.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "slurm/render/job_text.h"

namespace drover::slurm {

struct JobField {
  char letter = 0;        // of -o; 0: none
  std::string_view name;  // of -O, lower case; "" none
  std::string_view header;
  std::string (*text)(const api::JobView& job, const Look& look) = nullptr;
  bool needs_spec = false;  // read from disk, so only asked for when shown
  bool whole = false;       // never cut, however narrow the column
};

[[nodiscard]] std::span<const JobField> job_fields();
[[nodiscard]] std::optional<std::size_t> job_field_by_letter(char letter);
[[nodiscard]] std::optional<std::size_t> job_field_by_name(std::string_view name);

}  // namespace drover::slurm
