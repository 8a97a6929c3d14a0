// Setters of the option table: text to value, with Slurm's words for what is wrong.
#pragma once

#include "slurm/script/options_table.h"

namespace drover::slurm::setters {

// "sbatch: error: Invalid --NAME specification", and a second line that says how to mend it.
[[nodiscard]] Error invalid_specification(const Setting& setting, std::string_view hint = {});

template <auto Member>
Status text(SbatchOptions& options, const Setting& setting) {
  options.*Member = std::string(setting.value.value_or(""));
  return Done{};
}
template <auto Member>
Status flag(SbatchOptions& options, const Setting&) {
  options.*Member = true;
  return Done{};
}

// `Invalid numeric value "x" for --NAME.` unless it is 1 or more.
[[nodiscard]] Result<std::uint32_t> positive(const Setting& setting);
[[nodiscard]] Result<std::int64_t> memory(const Setting& setting);
[[nodiscard]] Result<std::vector<Gres>> gpu_list(const Setting& setting);
[[nodiscard]] Result<std::vector<std::string>> host_names(const Setting& setting);

template <auto Member>
Status count(SbatchOptions& options, const Setting& setting) {
  options.*Member = TRY(positive(setting));
  return Done{};
}
template <auto Member>
Status sourced_count(SbatchOptions& options, const Setting& setting) {
  options.*Member = {TRY(positive(setting)), setting.source};
  return Done{};
}
template <auto Member>
Status size(SbatchOptions& options, const Setting& setting) {
  options.*Member = {TRY(memory(setting)), setting.source};
  return Done{};
}
template <auto Member>
Status gpus(SbatchOptions& options, const Setting& setting) {
  options.*Member = TRY(gpu_list(setting));
  return Done{};
}
template <auto Member>
Status hosts(SbatchOptions& options, const Setting& setting) {
  options.*Member = TRY(host_names(setting));
  return Done{};
}

Status nodes(SbatchOptions& options, const Setting& setting);
Status time(SbatchOptions& options, const Setting& setting);
Status time_min(SbatchOptions& options, const Setting& setting);
Status deadline(SbatchOptions& options, const Setting& setting);
Status begin(SbatchOptions& options, const Setting& setting);
Status gres(SbatchOptions& options, const Setting& setting);
Status exclusive(SbatchOptions& options, const Setting& setting);
Status hint(SbatchOptions& options, const Setting& setting);
Status nice(SbatchOptions& options, const Setting& setting);
Status priority(SbatchOptions& options, const Setting& setting);
Status array(SbatchOptions& options, const Setting& setting);
Status dependency(SbatchOptions& options, const Setting& setting);
Status kill_on_invalid_dep(SbatchOptions& options, const Setting& setting);
Status requeue(SbatchOptions& options, const Setting& setting);
Status no_requeue(SbatchOptions& options, const Setting& setting);
Status signal(SbatchOptions& options, const Setting& setting);
Status wait_all_nodes(SbatchOptions& options, const Setting& setting);
Status open_mode(SbatchOptions& options, const Setting& setting);
Status mail_type(SbatchOptions& options, const Setting& setting);
Status verbose(SbatchOptions& options, const Setting& setting);
Status get_user_env(SbatchOptions& options, const Setting& setting);
Status ignored_pbs(SbatchOptions& options, const Setting& setting);

}  // namespace drover::slurm::setters
