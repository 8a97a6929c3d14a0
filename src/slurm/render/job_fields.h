// The columns of squeue: letters of -o, names of -O, and which view fields each one reads.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slurm/render/job_text.h"

namespace drover::slurm {

// What a column reads, and so what is asked of the controller: a long queue travels without what
// nobody looks at.
enum class Reads : std::uint8_t {
  row,      // what every list carries
  request,  // what the job asked for and was granted, in detail
  spec      // read from disk
};

struct JobField {
  char letter = 0;        // of -o; 0: none
  std::string_view name;  // of -O, lower case; "" none
  std::string_view header;
  std::string (*text)(const api::JobView& job, const Look& look) = nullptr;
  Reads reads = Reads::row;
  bool whole = false;  // never cut, however narrow the column
};

[[nodiscard]] std::span<const JobField> job_fields();
[[nodiscard]] std::vector<std::uint32_t> view_fields(Reads reads);  // numbers of JobView
[[nodiscard]] std::optional<std::size_t> job_field_by_letter(char letter);
[[nodiscard]] std::optional<std::size_t> job_field_by_name(std::string_view name);

}  // namespace drover::slurm
