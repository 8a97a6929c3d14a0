// What several commands share.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "slurm/command/call.h"
#include "slurm/exit.h"
#include "slurm/script/array.h"
#include "slurm/script/jobid.h"

namespace drover::slurm {

constexpr std::string_view kDataParser = "v0.0.44";

Result<Chosen> choose(const Call& call, std::span<const CommandOption> table) {
  std::vector<OptionName> names;
  for (const CommandOption& option : table) names.push_back({std::string(option.name), option.letter, option.takes});
  OptionWords words = TRY(parse_option_words(call.program, names, call.words, Operands::anywhere));
  Chosen chosen;
  chosen.rest = std::move(words.rest);
  for (const ChosenOption& option : words.chosen) {
    const std::string& name = names[option.row].name;
    if (table[option.row].refused) {
      return Error{Errc::invalid,
                   error_line(call.program, "--" + name + " is not supported by drover yet: remove it")};
    }
    if (name == "json" && !option.value.value_or("").empty() && *option.value != kDataParser) {
      return Error{Errc::invalid, error_line(call.program, "--json=" + printable(*option.value) + ": only " +
                                                               std::string(kDataParser) + " is written")};
    }
    chosen.values[name] = option.value.value_or("");
    if (name == "jobs") chosen.all_jobs.push_back(option.value.value_or(""));
  }
  return chosen;
}

std::vector<std::string> list_of(std::string_view text) {
  std::vector<std::string> list;
  for (const std::string_view item : split(text, ',')) {
    if (!trim(item).empty()) list.emplace_back(trim(item));
  }
  return list;
}

Error not_reached(std::string_view what, const Error& error) {
  if (error.code == Errc::unavailable) {
    return {Errc::unavailable, std::string(what) + " error: Unable to contact slurm controller (connect failure)\n" +
                                   printable(error.message, 500)};
  }
  return {Errc::denied, std::string(what) + " error: " + printable(error.message, 500)};
}

Status check_cluster(Call& call, const std::string& clusters) {
  if (clusters.empty() || iequals(clusters, "all")) return Done{};
  auto overview = call.controller->overview();
  if (!overview) return not_reached(call.program, overview.error());
  for (const std::string& name : list_of(clusters)) {
    if (name != overview.value().config.settings.cluster_name) {
      return Error{Errc::denied, error_line(call.program, "No cluster '" + printable(name) + "' known by database.")};
    }
  }
  return Done{};
}

drover::JobRef domain_ref(JobId job, const std::vector<std::uint32_t>& tasks) {
  drover::JobRef ref{.job = job, .tasks = {}};
  for (const std::uint32_t task : tasks) {
    if (!ref.tasks.empty() && ref.tasks.back().last + 1 == task) {
      ref.tasks.back().last = task;
    } else {
      ref.tasks.push_back({task, task, 1});
    }
  }
  return ref;
}

Result<std::vector<drover::JobRef>> domain_refs(std::string_view text) {
  std::vector<drover::JobRef> refs;
  for (const JobRef& ref : TRY(parse_job_refs(text))) {
    if (ref.component.value_or(0) != 0 || !(ref.step.empty() || ref.step == "batch")) {
      return Error{Errc::denied, "Invalid job id specified: " + printable(text)};
    }
    refs.push_back(domain_ref(JobId(ref.job), ref.tasks));
  }
  return refs;
}

std::string ref_text(const drover::JobRef& ref) {
  const std::string job = std::to_string(ref.job.value());
  if (ref.tasks.empty()) return job;
  if (ref.tasks.size() == 1 && ref.tasks[0].first == ref.tasks[0].last)
    return job + "_" + std::to_string(ref.tasks[0].first);
  std::vector<std::uint32_t> tasks;
  for (const TaskRange& range : ref.tasks) {
    for (std::uint64_t t = range.first; t <= range.last; t += std::max(range.step, 1U))
      tasks.push_back(static_cast<std::uint32_t>(t));
  }
  return job + "_[" + print_tasks(tasks) + "]";
}

std::optional<int> run_command(Call& call) {
  struct Command {
    std::string_view name;
    int (*run)(Call& call);
  };
  constexpr std::array kCommands{Command{"sbatch", sbatch},   Command{"squeue", squeue}, Command{"scancel", scancel},
                                 Command{"sinfo", sinfo},     Command{"sacct", sacct},   Command{"scontrol", scontrol},
                                 Command{"srun", srun},       Command{"salloc", salloc}, Command{"sattach", sattach},
                                 Command{"sstat", sstat}};
  for (const Command& command : kCommands) {
    if (command.name == call.program) return command.run(call);
  }
  return std::nullopt;
}

}  // namespace drover::slurm
