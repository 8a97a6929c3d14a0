// The one table of sbatch's options. A row without a setter is an option that Slurm has and drover
// doesn't: it is refused by name.
#pragma once

#include <span>
#include <string_view>

#include "slurm/script/getopt.h"
#include "slurm/script/options.h"

namespace drover::slurm {

// One option as given.
struct Setting {
  std::string_view name;  // long name
  std::optional<std::string_view> value;
  Source source = Source::command_line;
  const OptionContext* context = nullptr;
};

using Setter = Status (*)(SbatchOptions& options, const Setting& setting);

struct OptionRow {
  std::string_view name;
  char letter = 0;
  Takes takes = Takes::nothing;
  std::string_view variable;  // SBATCH_..., or ""
  Setter set = nullptr;
  std::string_view instead;  // for refused ones: what to do
};

[[nodiscard]] std::span<const OptionRow> option_rows();

// What is said of a row without a setter.
[[nodiscard]] Error refused(const OptionContext& context, std::string_view shown, std::string_view instead);

}  // namespace drover::slurm
