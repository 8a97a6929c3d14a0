#include "slurm/script/step_options.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"
#include "slurm/exit.h"

namespace drover::slurm {
namespace {

const OptionRow* sbatch_row(std::string_view name) {
  const auto rows = option_rows();
  const auto found = std::ranges::find(rows, name, &OptionRow::name);
  return found == rows.end() ? nullptr : &*found;
}

Status apply(StepOptions& options, std::string_view prefix, const StepRow& row, const Setting& setting) {
  if (row.shared) {
    const OptionRow* known = sbatch_row(row.name);
    CHECK(known != nullptr && known->set != nullptr);
    TRY(known->set(options.job, setting));
  } else if (row.set == nullptr) {
    const std::string shown = setting.source == Source::environment
                                  ? std::string(prefix).append(row.variable) + " (--" + std::string(row.name) + ")"
                                  : "--" + std::string(row.name);
    return refused(*setting.context, shown,
                   setting.source == Source::environment ? "unset it" : row.instead);
  } else {
    TRY(row.set(options, setting));
  }
  options.sources[std::string(row.name)] = setting.source;
  return Done{};
}

Status apply_environment(StepOptions& options, const StepRows& table,
                         const Environment& environment, bool inside,
                         const OptionContext& context) {
  for (const StepRow& row : table.rows) {
    if (row.variable.empty() || (inside && row.counts == Counts::alone)) continue;
    const auto found = environment.find(std::string(table.prefix).append(row.variable));
    if (found == environment.end() || found->second.empty()) continue;
    const Takes takes = row.shared ? sbatch_row(row.name)->takes : row.takes;
    Setting setting{
        .name = row.name, .value = {}, .source = Source::environment, .context = &context};
    if (takes == Takes::nothing) {
      if (found->second == "0" || iequals(found->second, "no")) continue;  // switched off
    } else {
      setting.value = found->second;
    }
    TRY(apply(options, table.prefix, row, setting));
  }
  return Done{};
}

// Of values that exclude each other the one from the command line stays; two there are an error.
template <class... Values>
Status keep_given(const OptionContext& context, std::string_view names,
                  Sourced<Values>&... values) {
  const int given = ((values.source == Source::command_line ? 1 : 0) + ...);
  if (given > 1) {
    return Error{Errc::invalid,
                 context.program + ": fatal: " + std::string(names) + " are mutually exclusive."};
  }
  if (given == 1)
    ((values = values.source == Source::command_line ? values : Sourced<Values>{}), ...);
  return Done{};
}

// Words of one line of a --multi-prog file; quotes keep blanks together and are dropped.
std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  bool open = false;
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    char c = line[i];
    if (quote != 0 && c == quote) {
      quote = 0;
      continue;
    }
    if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
      if (!open) words.emplace_back();
      open = true;
      continue;
    }
    if (quote == 0 && (c == ' ' || c == '\t')) {
      open = false;
      continue;
    }
    if (c == '\\' && quote != '\'' && i + 1 < line.size()) c = line[++i];
    if (!open) words.emplace_back();
    open = true;
    words.back() += c;
  }
  return words;
}

Error bad_line(int line, std::string_view what) {
  return {Errc::invalid,
          "Configuration file line " + std::to_string(line) + " invalid: " + std::string(what)};
}

// "0-2,5" or "*", which is all that is left.
Result<std::vector<drover::TaskRange>> ranges_of(std::string_view text, std::uint32_t tasks,
                                                 std::set<std::uint32_t>& left, int line) {
  std::vector<drover::TaskRange> ranges;
  const auto take = [&](std::uint32_t task) {
    left.erase(task);
    if (!ranges.empty() && ranges.back().last + 1 == task) {
      ranges.back().last = task;
    } else {
      ranges.push_back({task, task, 1});
    }
  };
  if (text == "*") {
    const std::set<std::uint32_t> rest = left;
    for (const std::uint32_t task : rest) take(task);
    return ranges;
  }
  for (const std::string_view item : split(text, ',')) {
    const std::size_t dash = item.find('-');
    const auto first = parse_uint(item.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_uint(item.substr(dash + 1));
    if (!first || !last || *last < *first)
      return bad_line(line, "\"" + printable(text) + "\" names no tasks");
    // Tasks beyond the last one may be named: one file serves runs of several sizes.
    for (std::uint64_t task = *first; task <= *last && task < tasks; ++task) {
      if (!left.contains(static_cast<std::uint32_t>(task))) {
        return bad_line(line, "task " + std::to_string(task) + " has a program already");
      }
      take(static_cast<std::uint32_t>(task));
    }
  }
  return ranges;
}

}  // namespace

Result<StepLine> parse_step_line(const StepRows& table,
                                 const std::vector<std::string>& words,
                                 const Environment& environment, bool inside,
                                 const OptionContext& context) {
  const std::span<const StepRow> rows = table.rows;
  std::vector<OptionName> names;
  for (const StepRow& row : rows) {
    const OptionRow* known = row.shared ? sbatch_row(row.name) : nullptr;
    names.push_back({std::string(row.name), known != nullptr ? known->letter : row.letter,
                     known != nullptr ? known->takes : row.takes});
  }
  OptionWords parsed =
      TRY(parse_option_words(context.program, names, words, Operands::stop_at_first));
  StepLine line;
  TRY(apply_environment(line.options, table, environment, inside, context));
  for (const ChosenOption& chosen : parsed.chosen) {
    Setting setting{.name = rows[chosen.row].name,
                    .value = {},
                    .source = Source::command_line,
                    .context = &context};
    if (chosen.value) setting.value = *chosen.value;
    TRY(apply(line.options, table.prefix, rows[chosen.row], setting));
  }
  const auto size = environment.find("SLURM_DIST_PLANESIZE");
  if (line.options.distribution == Distribution::plane && line.options.plane == 0) {
    const auto count = parse_uint(size == environment.end() ? "" : size->second);
    line.options.plane =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(count.value_or(0), 0x7fffffff));
    if (line.options.plane == 0) {
      return Error{Errc::invalid,
                   error_line(context.program, "--distribution=plane needs a size: plane=4")};
    }
  }
  SbatchOptions& job = line.options.job;
  TRY(keep_given(context, "--mem, --mem-per-cpu, and --mem-per-gpu", job.mem_mib,
                 job.mem_per_cpu_mib, job.mem_per_gpu_mib));
  TRY(keep_given(context, "--cpus-per-task and --cpus-per-gpu", job.cpus_per_task,
                 job.cpus_per_gpu));
  line.command = std::move(parsed.rest);
  return line;
}

Result<std::vector<StepProgram>> parse_multi_prog(std::string_view text, std::uint32_t tasks) {
  std::vector<StepProgram> programs;
  std::set<std::uint32_t> left;
  for (std::uint32_t task = 0; task < tasks; ++task) left.insert(task);
  std::string joined;
  int number = 0;
  for (const std::string_view raw : split(text, '\n')) {
    ++number;
    joined += raw;
    if (joined.ends_with('\\')) {
      joined.back() = ' ';
      continue;
    }
    const std::string line = std::exchange(joined, "");
    const std::string_view trimmed = trim(line);
    if (trimmed.empty() || trimmed.starts_with('#')) continue;
    std::vector<std::string> words = words_of(trimmed);
    if (words.size() < 2) return bad_line(number, "no program after the task numbers");
    auto ranges = TRY(ranges_of(words.front(), tasks, left, number));
    words.erase(words.begin());
    if (!ranges.empty()) programs.push_back({.tasks = std::move(ranges), .argv = std::move(words)});
  }
  if (!left.empty()) {
    return Error{Errc::invalid, "Configuration file invalid, no record for task id " +
                                    std::to_string(*left.begin())};
  }
  return programs;
}

}  // namespace drover::slurm
