// The #SBATCH lines of a batch script, as words for the option parser.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace drover::slurm {

struct Directive {
  int line = 0;
  std::vector<std::string> words;
  friend bool operator==(const Directive&, const Directive&) = default;
};

// Whether the text may be submitted at all: starts with #!, UNIX line ends, no NUL byte.
[[nodiscard]] Status check_batch_script(std::string_view script);

// Reads up to the first line that is neither blank nor a comment. `name` is shown in errors.
[[nodiscard]] Result<std::vector<Directive>> read_directives(std::string_view script, std::string_view name);

}  // namespace drover::slurm
