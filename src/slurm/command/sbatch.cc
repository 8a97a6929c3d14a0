// sbatch: reads the script and the options, makes the wish, says the id.
#include <algorithm>

#include "base/text.h"
#include "slurm/command/call.h"
#include "slurm/exit.h"
#include "slurm/launch/environment.h"
#include "slurm/render/words.h"
#include "slurm/script/request.h"
#include "slurm/script/words.h"

namespace drover::slurm {
namespace {

constexpr std::string_view kUsage = "Usage: sbatch [OPTIONS...] [SCRIPT [ARGS...]]\n";
constexpr std::string_view kHelp =
    "Usage: sbatch [OPTIONS...] [SCRIPT [ARGS...]]\n"
    "Submits a batch script. Without SCRIPT it is read from standard input.\n\n"
    "  -A, --account=NAME         -a, --array=LIST[%N]        -b, --begin=TIME\n"
    "  -c, --cpus-per-task=N      -C, --constraint=FEATURES   -d, --dependency=TYPE:JOB\n"
    "  -D, --chdir=FOLDER         -e, --error=FILE            -G, --gpus=[TYPE:]N\n"
    "  -H, --hold                 -i, --input=FILE            -J, --job-name=NAME\n"
    "  -n, --ntasks=N             -N, --nodes=MIN[-MAX]       -o, --output=FILE\n"
    "  -p, --partition=NAME       -q, --qos=NAME              -t, --time=LIMIT\n"
    "  -w, --nodelist=HOSTS       -x, --exclude=HOSTS         -W, --wait\n"
    "  --gres=gpu[:TYPE]:N  --gpus-per-node --gpus-per-task --cpus-per-gpu --mem-per-gpu\n"
    "  --mem=SIZE --mem-per-cpu=SIZE --exclusive --overcommit --ntasks-per-node=N\n"
    "  --extra='gpu_memory>=40GB && compute_capability>=8.0'\n"
    "  --export=ALL|NONE|NAMES --signal=[B:]SIG[@SECONDS] --requeue --no-requeue\n"
    "  --mail-type=WHEN --mail-user=WHO --comment=TEXT --nice[=N] --open-mode=append|truncate\n"
    "  --parsable --test-only --wrap=COMMAND --quiet --verbose --version\n";

struct Script {
  std::string text;
  std::string path;   // absolute, "" for none
  std::string shown;  // in errors
  std::string default_name;
  bool has_directives = true;
  std::vector<std::string> arguments;
};

Result<Script> load_script(const Call& call, const CommandLine& line) {
  Script script;
  if (line.wrap) {
    script.text = "#!/bin/sh\n# This script was created by sbatch --wrap.\n\n" + *line.wrap + "\n";
    script.default_name = "wrap";
    script.has_directives = false;
    return script;
  }
  if (line.script_words.empty()) {
    script.text = TRY(call.read_input());
    script.shown = script.default_name = "sbatch";
    return script;
  }
  script.shown = line.script_words.front();
  script.arguments.assign(line.script_words.begin() + 1, line.script_words.end());
  auto text = call.read_file(script.shown);
  if (!text) return Error{Errc::not_found, error_line("sbatch", "Unable to open file " + printable(script.shown))};
  script.text = std::move(text).value();
  script.path = script.shown.starts_with('/') ? script.shown : call.work_dir + "/" + script.shown;
  script.default_name = script.shown.substr(script.shown.rfind('/') + 1);
  return script;
}

std::string submit_line(const Call& call) {
  std::string line = call.program;
  for (const std::string& word : call.words) line += " " + word;
  return line;
}

Error refused(const Refusal& refusal, const std::optional<std::string>& partition) {
  std::string text;
  if (refusal.code == RefusalCode::unknown_partition) {
    const std::string& name = refusal.subject.empty() ? partition.value_or("") : refusal.subject;
    text = error_line("sbatch", "invalid partition specified: " + printable(name)) + "\n";
  }
  text += error_line("sbatch", "Batch job submission failed: " + std::string(refusal_words(refusal.code)));
  const bool said = refusal.code == RefusalCode::unknown_partition || refusal.code == RefusalCode::unknown_dependency;
  const std::string hint = refusal_hint(refusal);
  if (!said && !hint.empty()) text += "\n" + error_line("sbatch", hint);
  return {Errc::denied, text};
}

Error unreachable(const Error& error) {
  return {Errc::unavailable,
          error_line("sbatch", "Batch job submission failed: Unable to contact slurm controller (connect failure)") +
              "\n" + error_line("sbatch", printable(error.message, 500))};
}

// The id that the job would have.
std::string next_id(Call& call) {
  std::uint64_t last = 0;
  const auto listed =
      call.controller->jobs({.fields = {1}}, [&last](api::JobView& job) { last = std::max(last, job.id.value()); });
  return std::to_string(listed ? last + 1 : 1);
}

int test_only(Call& call, const api::Execute& wish, const SbatchOptions& options) {
  auto answer = call.controller->would_start(wish);
  if (!answer) return call.fail(unreachable(answer.error()));
  if (const auto* refusal = std::get_if<Refusal>(&answer.value())) {
    const std::string words(refusal_words(refusal->code));
    call.err += error_line("sbatch", "allocation failure: " + words) + "\n";
    const std::string hint = refusal_hint(*refusal);
    if (!hint.empty()) call.err += error_line("sbatch", hint) + "\n";
    return 1;
  }
  const auto& start = std::get<api::WouldStart>(answer.value());
  if (!options.quiet) {
    call.err += "sbatch: Job " + next_id(call) + " to start at " +
                call.time_format().print(time_of(start.at), "Unknown") + " a using " + std::to_string(start.cpus) +
                " processors on nodes " + nodes_text(start.nodes) + " in partition " + start.partition + "\n";
  }
  return 0;
}

int wait_for(Call& call, JobId job) {
  if (call.flush) call.flush(call);
  auto ended = call.controller->wait_ended(job);
  if (!ended) return call.fail(unreachable(ended.error()));
  int worst = 0;
  for (const api::JobView& view : ended.value()) {
    int status = view.exit.signal != 0 ? 128 + view.exit.signal : view.exit.code;
    if (status == 0 && view.cause != Cause::completed) status = 1;
    worst = std::max(worst, status);
  }
  return worst;
}

int submit(Call& call, const api::Execute& wish, const SbatchOptions& options) {
  auto answer = call.controller->execute(wish);
  if (!answer) return call.fail(unreachable(answer.error()));
  if (const auto* refusal = std::get_if<Refusal>(&answer.value()))
    return call.fail(refused(*refusal, options.partition));
  const JobId job = std::get<Reply>(answer.value()).job;
  const std::string id = std::to_string(job.value());
  if (options.parsable) {
    call.out += id + (options.clusters ? ";" + *options.clusters : "") + "\n";
  } else if (!options.quiet) {
    call.out += "Submitted batch job " + id + (options.clusters ? " on cluster " + *options.clusters : "") + "\n";
  }
  return options.wait ? wait_for(call, job) : 0;
}

// Lines that look as if they were meant to be directives (-v only).
void hint_at_disabled_lines(Call& call, std::string_view script) {
  int number = 0;
  for (const std::string_view line : split(script, '\n')) {
    ++number;
    const std::string_view text = trim(line);
    if (!text.empty() && text.front() != '#') break;
    if (!line.starts_with("#SBATCH ") && iequals(text.substr(0, 8), "# SBATCH")) {
      call.err += "sbatch: line " + std::to_string(number) +
                  " is a comment: a directive begins with #SBATCH in the first column\n";
    }
  }
}

}  // namespace

int sbatch(Call& call) {
  const OptionContext context{.program = call.program, .now = call.now, .zone = call.zone};
  const auto line = split_command_line(call.words, context);
  if (!line) return call.fail(line.error());
  if (line.value().help || line.value().usage || line.value().version) {
    call.out += line.value().help ? kHelp : line.value().usage ? kUsage : kVersionLine;
    return 0;
  }
  const auto script = load_script(call, line.value());
  if (!script) return call.fail(script.error());
  if (const auto checked = check_batch_script(script.value().text); !checked) return call.fail(checked.error());
  const std::string_view directives = script.value().has_directives ? std::string_view(script.value().text) : "";
  const auto combined = combine_options(directives, script.value().shown, call.environment, line.value(), context);
  if (!combined) return call.fail(combined.error());
  const SbatchOptions& options = combined.value();
  if (options.help || options.usage || options.version) {
    call.out += options.help ? kHelp : options.usage ? kUsage : kVersionLine;
    return 0;
  }
  if (options.verbose > 0) hint_at_disabled_lines(call, directives);

  auto passed = exported(options.export_env, call.environment);
  if (!passed) return call.fail(passed.error());
  if (passed.value().with_login || options.get_user_env) {
    for (auto& [name, value] : call.login_environment()) passed.value().variables.emplace(name, value);
  }
  SubmitFacts facts{.script = script.value().text,
                    .script_path = script.value().path,
                    .default_name = script.value().default_name,
                    .arguments = script.value().arguments,
                    .submit_line = submit_line(call),
                    .work_dir = call.work_dir,
                    .host = call.host,
                    .session_id = call.session_id,
                    .umask = call.umask,
                    .rlimits = call.rlimits,
                    .environment = std::move(passed).value().variables};
  const auto wish = make_submit(options, facts);
  if (!wish) return call.fail(wish.error());
  if (const auto known = check_cluster(call, options.clusters.value_or("")); !known) return call.fail(known.error());
  return options.test_only ? test_only(call, wish.value(), options) : submit(call, wish.value(), options);
}

}  // namespace drover::slurm
