#include "slurm/script/options.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "slurm/exit.h"
#include "slurm/script/options_table.h"
#include "slurm/script/words.h"

namespace drover::slurm {
namespace {

// The option table with the site's foreign options behind it.
class Parser {
 public:
  explicit Parser(const OptionContext& context) : context_(context) {
    for (const OptionRow& row : option_rows()) names_.push_back({std::string(row.name), row.letter, row.takes});
    for (const std::string& foreign : context.accepted_foreign) {
      const auto known = std::ranges::find(names_, foreign, &OptionName::name);
      if (known == names_.end()) names_.push_back({foreign, 0, Takes::maybe_value});
    }
  }

  [[nodiscard]] Result<OptionWords> parse(const std::vector<std::string>& words) const {
    return parse_option_words(context_.program, names_, words, Operands::stop_at_first);
  }

  [[nodiscard]] Status apply(SbatchOptions& options, const ChosenOption& chosen, Source source) const {
    const OptionName& name = names_[chosen.row];
    if (std::ranges::find(context_.accepted_foreign, name.name) != context_.accepted_foreign.end()) {
      options.foreign[name.name] = chosen.value.value_or("");
      return Done{};
    }
    const OptionRow& row = option_rows()[chosen.row];
    if (row.set == nullptr) return refused(context_, "--" + name.name, row.instead);
    Setting setting{.name = row.name, .value = {}, .source = source, .context = &context_};
    if (chosen.value) setting.value = *chosen.value;
    return row.set(options, setting);
  }

  [[nodiscard]] Status apply_environment(SbatchOptions& options, const Environment& environment) const {
    for (const OptionRow& row : option_rows()) {
      if (row.variable.empty()) continue;
      const auto found = environment.find(row.variable);
      if (found == environment.end()) continue;
      if (row.set == nullptr) {
        return refused(context_, std::string(row.variable) + " (--" + std::string(row.name) + ")", "unset it");
      }
      Setting setting{.name = row.name, .value = {}, .source = Source::environment, .context = &context_};
      if (row.takes != Takes::nothing) setting.value = found->second;
      TRY(row.set(options, setting));
    }
    return Done{};
  }

 private:
  const OptionContext& context_;
  std::vector<OptionName> names_;
};

Status apply_script(SbatchOptions& options, const Parser& parser, std::string_view script, std::string_view name,
                    const OptionContext& context) {
  std::vector<std::string> words;
  for (const Directive& directive : TRY(read_directives(script, name))) {
    const bool alone = directive.words.size() == 1;
    if (alone && (directive.words.front() == "hetjob" || directive.words.front() == "packjob")) {
      return refused(context, "#SBATCH " + directive.words.front(), "submit one job for each part");
    }
    words.insert(words.end(), directive.words.begin(), directive.words.end());
  }
  const OptionWords parsed = TRY(parser.parse(words));
  for (const ChosenOption& chosen : parsed.chosen) TRY(parser.apply(options, chosen, Source::script));
  if (!parsed.rest.empty()) {
    return Error{Errc::invalid, error_line(context.program, "Invalid directive found in batch script: " +
                                                                printable(parsed.rest.front()))};
  }
  return Done{};
}

// Of values that exclude each other the one from the strongest source stays; two from it are an error.
template <class... Values>
Status keep_strongest(const OptionContext& context, std::string_view names, Sourced<Values>&... values) {
  const Source strongest = std::max({values.source...});
  if (strongest == Source::unset) return Done{};
  const int at_top = ((values.source == strongest ? 1 : 0) + ...);
  if (at_top > 1) {
    return Error{Errc::invalid, context.program + ": fatal: " + std::string(names) + " are mutually exclusive."};
  }
  ((values = values.source == strongest ? values : Sourced<Values>{}), ...);
  return Done{};
}

}  // namespace

Result<CommandLine> split_command_line(const std::vector<std::string>& words, const OptionContext& context) {
  const OptionWords parsed = TRY(Parser(context).parse(words));
  CommandLine line;
  line.script_words = parsed.rest;
  line.option_words.assign(words.begin(), words.end() - static_cast<std::ptrdiff_t>(parsed.rest.size()));
  for (const ChosenOption& chosen : parsed.chosen) {
    if (chosen.row >= option_rows().size()) continue;
    const std::string_view name = option_rows()[chosen.row].name;
    if (name == "wrap") line.wrap = chosen.value;
    line.help = line.help || name == "help";
    line.usage = line.usage || name == "usage";
    line.version = line.version || name == "version";
  }
  if (line.wrap && !line.script_words.empty()) {
    return Error{Errc::invalid, error_line(context.program, "Script arguments not permitted with --wrap option")};
  }
  return line;
}

Result<SbatchOptions> combine_options(std::string_view script, std::string_view script_name,
                                      const Environment& environment, const CommandLine& line,
                                      const OptionContext& context) {
  const Parser parser(context);
  SbatchOptions options;
  TRY(apply_script(options, parser, script, script_name, context));
  TRY(parser.apply_environment(options, environment));
  const OptionWords words = TRY(parser.parse(line.option_words));
  for (const ChosenOption& chosen : words.chosen) TRY(parser.apply(options, chosen, Source::command_line));
  TRY(keep_strongest(context, "--mem, --mem-per-cpu, and --mem-per-gpu", options.mem_mib, options.mem_per_cpu_mib,
                     options.mem_per_gpu_mib));
  TRY(keep_strongest(context, "--cpus-per-task and --cpus-per-gpu", options.cpus_per_task, options.cpus_per_gpu));
  return options;
}

}  // namespace drover::slurm
