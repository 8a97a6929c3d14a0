// How the Slurm commands end. Error::message is the whole text for standard error, prefix included;
// the code says which exit status goes with it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace drover::slurm {

inline constexpr int kExitUsage = 255;  // a wrong option, value or directive
inline constexpr int kExitRefused = 1;  // no batch script, or refused by the controller

[[nodiscard]] constexpr int exit_code(Errc code) { return code == Errc::invalid ? kExitUsage : kExitRefused; }

// "sbatch: error: Invalid --time specification"
[[nodiscard]] inline std::string error_line(std::string_view program, std::string_view text) {
  return std::string(program).append(": error: ").append(text);
}

}  // namespace drover::slurm
