// Names of log files: slurm-%j.out, logs/%x_%A_%4a.txt.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace drover::slurm {

struct LogNames {
  std::uint64_t job = 0;              // %j, %J
  std::uint64_t array_job = 0;        // %A; the job itself outside arrays
  std::optional<std::uint32_t> task;  // %a; 4294967294 outside arrays
  std::string job_name;               // %x
  std::string user;                   // %u
  std::string node;                   // %N
  std::uint32_t node_rank = 0;        // %n
  std::uint32_t process = 0;          // %t
  std::string step = "batch";         // %s
  std::uint32_t restarts = 0;         // %r
};

// %5j pads with zeros to at most ten digits; a backslash in the pattern turns every % off and is
// dropped; an unknown letter stays as it is. A '/' inside a value can't leave the folder: it
// becomes '_'.
[[nodiscard]] std::string expand_log_name(std::string_view pattern, const LogNames& names);

[[nodiscard]] constexpr std::string_view default_log_name(bool array) {
  return array ? "slurm-%A_%a.out" : "slurm-%j.out";
}

}  // namespace drover::slurm
