// srun: a step of a job that is there, or a job of its own for one step.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <functional>

#include "base/text.h"
#include "os/random.h"
#include "slurm/command/allocation.h"
#include "slurm/command/attach.h"
#include "slurm/exit.h"
#include "slurm/launch/bind.h"
#include "slurm/render/words.h"
#include "slurm/script/logname.h"
#include "slurm/step/wish.h"

namespace drover::slurm {
namespace {

constexpr int kFirstPauseMs = 20;
constexpr int kLongestPauseMs = 500;

constexpr std::string_view kUsage = "Usage: srun [OPTIONS...] COMMAND [ARGS...]\n";
constexpr std::string_view kHelp =
    "Usage: srun [OPTIONS...] COMMAND [ARGS...]\n"
    "Runs COMMAND as a step of the job it is called in, or of a job of its own.\n\n"
    "  -n, --ntasks=N             -N, --nodes=MIN[-MAX]       -c, --cpus-per-task=N\n"
    "  -w, --nodelist=HOSTS       -x, --exclude=HOSTS         -r, --relative=N\n"
    "  -t, --time=LIMIT           -p, --partition=NAME        -A, --account=NAME\n"
    "  -J, --job-name=NAME        -D, --chdir=FOLDER          -m, "
    "--distribution=block|cyclic|plane=N|arbitrary\n"
    "  -o, --output=FILE          -e, --error=FILE            -i, --input=FILE|none|TASK\n"
    "  -l, --label                -u, --unbuffered            -O, --overcommit\n"
    "  -K, --kill-on-bad-exit[=0|1]  -W, --wait=SECONDS       -I, --immediate[=SECONDS]\n"
    "  -G, --gpus=[TYPE:]N  --gres=gpu[:TYPE]:N  --gpus-per-node --gpus-per-task --gpu-bind=WORDS\n"
    "  --mem=SIZE --mem-per-cpu=SIZE --mem-per-gpu=SIZE --exact --exclusive --overlap\n"
    "  --cpu-bind=none|cores|threads|rank|map_cpu:LIST|mask_cpu:LIST --ntasks-per-node=N\n"
    "  --export=ALL|NONE|NAMES --open-mode=append|truncate --pty --multi-prog --jobid=ID "
    "--mpi=none\n";

std::string new_ticket() {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : random_bytes(16)) {
    const auto byte = static_cast<unsigned char>(c);
    text += {kDigits[byte >> 4U], kDigits[byte & 15U]};
  }
  return text;
}

int fail_text(Call& call, std::string_view text) {
  call.err += text;
  return error_status(call);
}
int fail_line(Call& call, std::string_view text) {
  return fail_text(call, error_line(call.program, text) + "\n");
}

// One call of srun, from its options to its exit status.
class Run {
 public:
  Run(Call& call, StepLine line, std::optional<std::uint64_t> job)
      : call_(call),
        options_(std::move(line.options)),
        command_(std::move(line.command)),
        job_(job) {}

  int run() {
    StepFacts facts{.inside = job_.has_value(),
                    .command = command_,
                    .work_dir = call_.work_dir,
                    .host = call_.host,
                    .launch_address = address_of(call_.host),
                    .submit_line = submit_line(call_),
                    .umask = call_.umask,
                    .rlimits = call_.rlimits,
                    .environment = call_.environment,
                    .rows = window_of(0).rows,
                    .columns = window_of(0).columns,
                    .ticket = new_ticket()};
    if (options_.multi_prog) {
      auto text = call_.read_file(command_.front());
      if (!text)
        return fail_line(call_, "Unable to open configuration file " + printable(command_.front()));
      facts.multi_prog = std::move(text).value();
    }
    auto made = make_step(options_, facts);
    if (!made) return fail_text(call_, made.error().message + "\n");
    made_ = std::move(made).value();
    for (const std::string& warning : made_.warnings)
      call_.err += "srun: Warning: " + warning + "\n";
    flush(call_);
    return job_ ? inside() : alone();
  }

 private:
  int alone() {
    fewer_nodes();
    auto wish = allocation_wish(call_, options_, command_name(command_));
    if (!wish) return fail_text(call_, wish.error().message + "\n");
    std::get<Submit>(wish.value().command).first_step = made_.wish;
    wish.value().step_spec = made_.spec;
    Allocation allocation(call_, signals_);
    if (!allocation.obtain(wish.value(), options_)) return error_status(call_);
    const auto step = find_step(call_, allocation.job(), 0, true);
    if (!step) {
      allocation.end({.code = 1});
      return fail_line(call_, "Unable to create step for job " +
                                  std::to_string(allocation.job().value()) + ": " +
                                  step.error().message);
    }
    const int status = attend(step.value(), std::to_string(allocation.job().value()) + ".0",
                              [&allocation] { allocation.keep_alive(); });
    allocation.end(status > 128 ? ExitStatus{.code = 0, .signal = status - 128}
                                : ExitStatus{.code = status});
    return status;
  }

  // The job must be as small as its step.
  void fewer_nodes() {
    std::vector<std::string> said;
    fewer_nodes_than_tasks(options_, said);
  }

  int inside() {
    const std::string id = std::to_string(*job_);
    api::Execute wish;
    wish.command = CreateStep{.job = JobId(*job_), .step = made_.wish};
    wish.step_spec = made_.spec;
    wish.key = new_ticket();
    bool waited = false;
    for (int pause = kFirstPauseMs;; pause = std::min(pause * 2, kLongestPauseMs)) {
      const auto answer = call_.controller->execute(wish);
      const std::string begins = "Unable to create step for job " + id + ": ";
      if (!answer) return fail_text(call_, unreachable_lines(call_, begins, answer.error()));
      if (const auto* reply = std::get_if<Reply>(&answer.value())) {
        const std::uint32_t number = reply->step.value_or(0);
        const std::string shown = id + "." + std::to_string(number);
        if (waited && !options_.job.quiet)
          call_.err += "srun: Step created for StepId=" + shown + "\n";
        const auto step = find_step(call_, JobId(*job_), number, true);
        if (!step) return fail_line(call_, begins + step.error().message);
        return attend(step.value(), shown);
      }
      const Refusal& refusal = std::get<Refusal>(answer.value());
      if (refusal.code != RefusalCode::step_busy) return refused(refusal, begins);
      if (options_.immediate_s) return fail_line(call_, begins + "Requested nodes are busy");
      if (!std::exchange(waited, true) && !options_.job.quiet) {
        call_.err += "srun: Job " + id +
                     " step creation temporarily disabled, retrying (Requested nodes are busy)\n";
      }
      flush(call_);
      if (const int number = pause_or_signal(pause); number != 0) {
        return fail_text(
            call_, "srun: Cancelled pending job step with signal " + std::to_string(number) + "\n");
      }
    }
  }

  int refused(const Refusal& refusal, const std::string& begins) {
    const std::string id = std::to_string(*job_);
    if (refusal.code == RefusalCode::unknown_job || refusal.code == RefusalCode::already_ended ||
        refusal.code == RefusalCode::not_running) {
      const std::string words(refusal_words(refusal.code));
      call_.err +=
          error_line("srun", "Unable to confirm allocation for job " + id + ": " + words) + "\n";
      if (refusal.code == RefusalCode::not_running) return error_status(call_);
      return fail_text(
          call_,
          "srun: Check SLURM_JOB_ID environment variable. Expired or invalid job " + id + "\n");
    }
    return fail_text(call_, refusal_lines(call_, begins, refusal));
  }

  // The signal that ended the wait, or 0.
  int pause_or_signal(int milliseconds) {
    pollfd polled{.fd = signals_.fd(), .events = POLLIN, .revents = 0};
    if (::poll(&polled, 1, milliseconds) <= 0) return 0;
    for (const int number : signals_.take()) {
      if (number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT)
        return number;
    }
    return 0;
  }

  // Stays with the step until it is over.
  int attend(const api::StepView& step, const std::string& shown, std::function<void()> lasting = nullptr) {
    flush(call_);
    auto plan = plan_session(call_, step, shown);
    if (!plan) return abandon(step, plan.error());
    SessionEnds ends = session_ends(call_, step, signals_);
    if (const auto opened = open_streams(step, ends); !opened) return abandon(step, opened.error());
    ends.lasting = std::move(lasting);
    plan->ticket = made_.wish.ticket;
    plan->label = options_.label;
    plan->unbuffered = options_.unbuffered;
    plan->only_out = made_.out.task;
    plan->only_err = made_.err.task;
    if (made_.spec.input_task < 0xFFFFFFFE) plan->input_task = made_.spec.input_task;
    plan->pty = options_.pty;
    plan->quit_on_interrupt = options_.quit_on_interrupt;
    plan->disable_status = options_.disable_status;
    plan->quiet = options_.job.quiet;
    plan->kill_on_bad_exit = options_.kill_on_bad_exit.value_or(false);
    plan->wait_s = options_.wait_s;
    plan->on_start = [this, &step](const TaskStarted& started) {
      return bound_words(step, started);
    };
    say_where(*plan);
    std::optional<RawTerminal> raw;
    if (options_.pty) raw.emplace(0);
    return Session(std::move(plan).value(), std::move(ends)).run();
  }

  // Nobody will take the step's output: it mustn't run on.
  int abandon(const api::StepView& step, const Error& error) {
    api::Execute wish;
    wish.command = EndStep{.job = step.job, .step = step.number};
    static_cast<void>(call_.controller->execute(wish).has_value());
    return fail_line(call_, error.message);
  }

  void say_where(const SessionPlan& plan) {
    if (options_.job.verbose == 0) return;
    for (const PartPlace& part : plan.parts) {
      call_.err += "srun: launching StepId=" + plan.shown + " on host " + part.node + ", " +
                   std::to_string(part.tasks.size()) + " tasks: " + task_list(part.tasks) + "\n";
    }
    flush(call_);
  }

  // --cpu-bind=verbose
  [[nodiscard]] std::string bound_words(const api::StepView& step,
                                        const TaskStarted& started) const {
    const auto words = parse_cpu_bind(options_.cpu_bind);
    if (!words || !words->verbose) return {};
    for (const api::StepShareView& share : step.shares) {
      const auto tasks = numbers_of(share.tasks);
      const auto place = std::ranges::find(tasks, started.task);
      if (place == tasks.end()) continue;
      const auto local = static_cast<std::uint32_t>(place - tasks.begin());
      BindPlace bind{.tasks = static_cast<std::uint32_t>(tasks.size()), .local = local};
      for (const std::string_view run : split(share.share.cpus, ',')) {
        const std::size_t dash = run.find('-');
        const auto first = parse_uint(run.substr(0, dash)).value_or(0);
        const auto last = dash == std::string_view::npos
                              ? first
                              : parse_uint(run.substr(dash + 1)).value_or(first);
        for (std::uint64_t cpu = first; cpu <= last; ++cpu)
          bind.cpus.push_back(static_cast<std::uint32_t>(cpu));
      }
      const auto cpus = task_cpus(made_.wish.request, words.value(), bind);
      std::array<char, 64> numbers{};
      std::snprintf(numbers.data(), numbers.size(), ", task %2u %2u [%lld]: mask ", started.task,
                    local, static_cast<long long>(started.pid));
      return "cpu-bind=MASK - " + share.share.node + numbers.data() +
             cpu_mask(cpus.empty() ? bind.cpus : cpus) + " set";
    }
    return {};
  }

  [[nodiscard]] std::string own_path(const api::StepView& step, const std::string& pattern) const {
    LogNames names{.job = step.job.value(),
                   .array_job = step.array ? step.array.value() : step.job.value(),
                   .job_name = call_.variable("SLURM_JOB_NAME").value_or(step.name),
                   .user = step.user,
                   .step = std::to_string(step.number)};
    if (!job_) names.job_name = options_.job.job_name.value_or(step.name);
    if (step.task != kNoTask) names.task = step.task;
    const std::string path = expand_log_name(pattern, names);
    return path.starts_with('/') ? path : made_.spec.work_dir + "/" + path;
  }

  Status open_streams(const api::StepView& step, SessionEnds& ends) {
    ends.in = made_.spec.input_task == 0xFFFFFFFE ? -1 : STDIN_FILENO;
    if (!made_.in.file.empty()) {
      in_ = TRY(open_input(own_path(step, made_.in.file)));
      ends.in = in_.get();
    }
    ends.out = STDOUT_FILENO;
    ends.err = STDERR_FILENO;
    const bool append = options_.job.open_mode == OpenMode::append;
    if (!made_.out.file.empty()) {
      out_ = TRY(open_output(own_path(step, made_.out.file), append));
      ends.out = out_.get();
    }
    if (made_.err.file.empty()) return Done{};
    const bool same =
        !made_.out.file.empty() && own_path(step, made_.out.file) == own_path(step, made_.err.file);
    if (!same) err_ = TRY(open_output(own_path(step, made_.err.file), append));
    ends.err = same ? out_.get() : err_.get();
    return Done{};
  }

  Call& call_;
  StepOptions options_;
  std::vector<std::string> command_;
  std::optional<std::uint64_t> job_;
  MadeStep made_;
  Signals signals_;
  Fd in_;
  Fd out_;
  Fd err_;
};

// The job this is called in, if any.
Result<std::optional<std::uint64_t>> own_job(const Call& call) {
  const auto text =
      call.variable("SLURM_JOB_ID").value_or(call.variable("SLURM_JOBID").value_or(""));
  if (text.empty()) return std::optional<std::uint64_t>();
  const auto job = parse_uint(text);
  if (!job || *job == 0) {
    return Error{Errc::invalid,
                 error_line("srun", "SLURM_JOB_ID is no job id: " + printable(text))};
  }
  return std::optional(*job);
}

bool names_a_job(const std::vector<std::string>& words) {
  return std::ranges::any_of(words,
                             [](const std::string& word) { return word.starts_with("--jobid"); });
}

}  // namespace

int srun(Call& call) {
  auto job = own_job(call);
  if (!job) return fail_text(call, job.error().message + "\n");
  const OptionContext context{.program = "srun", .now = call.now, .zone = call.zone};
  const bool inside = job.value().has_value() || names_a_job(call.words);
  auto line = parse_step_line(srun_rows(), call.words, call.environment, inside, context);
  if (!line) return fail_text(call, line.error().message + "\n");
  const StepOptions& options = line->options;
  if (options.job.help || options.job.usage || options.job.version) {
    call.out += options.job.help ? kHelp : options.job.usage ? kUsage : kVersionLine;
    return 0;
  }
  if (options.mpi == "list") {
    call.out += "MPI plugin types are...\n\tnone\n";
    return 0;
  }
  if (line->command.empty()) return fail_text(call, "srun: fatal: No command given to execute.\n");
  if (const auto known = check_cluster(call, options.job.clusters.value_or("")); !known) {
    return fail_text(call, known.error().message + "\n");
  }
  const auto target = options.job_id ? options.job_id : job.value();
  return Run(call, std::move(line).value(), target).run();
}

}  // namespace drover::slurm
