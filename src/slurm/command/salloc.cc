// salloc: a job, and a command of the user's beside it that may fill it with steps.
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/text.h"
#include "slurm/command/allocation.h"
#include "slurm/exit.h"
#include "slurm/launch/describe.h"
#include "slurm/step/wish.h"

namespace drover::slurm {
namespace {

constexpr std::string_view kUsage = "Usage: salloc [OPTIONS...] [COMMAND [ARGS...]]\n";
constexpr std::string_view kHelp =
    "Usage: salloc [OPTIONS...] [COMMAND [ARGS...]]\n"
    "Gets nodes and runs COMMAND, or a shell, while they are held.\n\n"
    "  -n, --ntasks=N             -N, --nodes=MIN[-MAX]       -c, --cpus-per-task=N\n"
    "  -t, --time=LIMIT           -p, --partition=NAME        -A, --account=NAME\n"
    "  -w, --nodelist=HOSTS       -x, --exclude=HOSTS         -J, --job-name=NAME\n"
    "  -G, --gpus=[TYPE:]N  --gres=gpu[:TYPE]:N  --gpus-per-node --gpus-per-task --mem=SIZE "
    "--mem-per-cpu=SIZE\n"
    "  --exclusive --no-shell -K, --kill-command[=SIGNAL] -I, --immediate[=SECONDS] --bell\n";

// Waits for the end of the job, and says so by a byte; the end isn't missed however late it comes.
Result<Helper> watch_end(Call& call, JobId job) {
  return Helper::start([&call, job](int out) {
    call.controller->forked();
    while (!call.controller->wait_ended(job)) ::poll(nullptr, 0, 1000);
    static_cast<void>(::write(out, "1", 1));
  });
}

class Shell {
 public:
  Shell(Call& call, const Signals& signals, const StepOptions& options)
      : call_(call), signals_(signals), options_(options) {}

  // Runs the command until it ends; its exit status, 128 + a signal.
  int run(const std::vector<std::string>& argv, const Environment& environment, JobId job) {
    revoked_ = watch_end(call_, job);
    const std::array<int, 2> ends = exec_pipe();
    const pid_t child = ::fork();
    if (child < 0) return failed(argv.front());
    if (child == 0) become(argv, environment, ends[1]);
    ::close(ends[1]);
    int why = 0;
    const bool unstarted = ::read(ends[0], &why, sizeof why) == static_cast<ssize_t>(sizeof why);
    ::close(ends[0]);
    if (unstarted) {
      ::waitpid(child, nullptr, 0);
      errno = why;
      return failed(argv.front());
    }
    return wait_for(child, job);
  }
  [[nodiscard]] bool was_revoked() const { return said_; }

 private:
  static std::array<int, 2> exec_pipe() {
    std::array<int, 2> ends{-1, -1};
    CHECK(::pipe2(ends.data(), O_CLOEXEC) == 0);
    return ends;
  }

  int failed(const std::string& command) {
    call_.err += error_line(call_.program, "Unable to exec command \"" + printable(command) +
                                               "\": " + std::strerror(errno)) +
                 "\n";
    return 127;
  }

  [[noreturn]] void become(const std::vector<std::string>& argv, const Environment& environment,
                           int report) {
    signals_.restore();
    std::vector<std::string> items = environment_list(environment);
    std::vector<char*> env;
    for (std::string& item : items) env.push_back(item.data());
    env.push_back(nullptr);
    std::vector<std::string> words = argv;
    std::vector<char*> list;
    for (std::string& word : words) list.push_back(word.data());
    list.push_back(nullptr);
    ::execvpe(list.front(), list.data(), env.data());
    const int why = errno;
    static_cast<void>(::write(report, &why, sizeof why));
    ::_exit(127);
  }

  int wait_for(pid_t child, JobId job) {
    for (;;) {
      int status = 0;
      const pid_t ended = ::waitpid(child, &status, WNOHANG);
      if (ended == child) return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
      // Nothing that is polled tells of the child's end, so the waits are short.
      constexpr int kLookMs = 50;
      std::array<pollfd, 2> polled{
          {{.fd = signals_.fd(), .events = POLLIN, .revents = 0},
           {.fd = said_ || !revoked_ ? -1 : revoked_->fd(), .events = POLLIN, .revents = 0}}};
      ::poll(polled.data(), polled.size(), kLookMs);
      if (polled[0].revents != 0) {
        for (const int number : signals_.take()) pass_on(number, child);
      }
      if (polled[1].revents != 0) revoke(child, job);
    }
  }

  // What the terminal sends reaches the command by itself.
  static void pass_on(int number, pid_t child) {
    if (number == SIGTERM || number == SIGHUP || number == SIGUSR1 || number == SIGUSR2)
      ::kill(child, number);
  }

  void revoke(pid_t child, JobId job) {
    said_ = true;
    call_.err +=
        call_.program + ": Job allocation " + std::to_string(job.value()) + " has been revoked.\n";
    flush(call_);
    // An interactive shell stays, unless asked otherwise; it sees the message.
    const bool interactive = ::isatty(STDIN_FILENO) == 1 && options_.kill_command == std::nullopt;
    ::kill(child, interactive ? SIGHUP : options_.kill_command.value_or(SIGTERM));
  }

  Call& call_;
  const Signals& signals_;
  const StepOptions& options_;
  Result<Helper> revoked_ = Helper();
  bool said_ = false;
};

Environment command_environment(const Call& call, const api::JobView& job,
                                const std::string& cluster) {
  Environment environment;
  for (const auto& [name, value] : call.environment) {
    if (!tells_of_a_job(name)) environment.emplace(name, value);
  }
  describe_job(environment, job, {.cluster_name = cluster});
  describe_nodes(environment, job);
  describe_request(environment, job);
  environment["SLURM_SUBMIT_DIR"] = call.work_dir;
  environment["SLURM_SUBMIT_HOST"] = call.host;
  // Of the first node's script, not of a command beside the job.
  for (const char* name : {"SLURMD_NODENAME", "SLURM_TOPOLOGY_ADDR", "SLURM_TOPOLOGY_ADDR_PATTERN",
                           "SLURM_CPUS_ON_NODE", "SLURM_GPUS_ON_NODE"}) {
    environment.erase(name);
  }
  return environment;
}

std::vector<std::string> command_of(const Call& call, std::vector<std::string> words) {
  if (words.empty()) words = {call.variable("SHELL").value_or("/bin/sh")};
  return words;
}

Result<api::JobView> whole_view(Call& call, JobId job) {
  Result<api::JobView> found = Error{Errc::not_found, "Invalid job id specified"};
  TRY(call.controller->jobs({.select = {.jobs = {{.job = job}}}, .fields = api::job_view_fields()},
                            [&](api::JobView& view) { found = std::move(view); }));
  return found;
}

int run_salloc(Call& call, const StepLine& line) {
  const StepOptions& options = line.options;
  const std::string default_name =
      line.command.empty() ? "interactive" : command_name(line.command);
  auto wish = allocation_wish(call, options, default_name);
  if (!wish) return call.fail(wish.error().message), 1;
  const Signals signals;
  Allocation allocation(call, signals);
  if (!allocation.obtain(wish.value(), options)) return error_status(call);
  allocation.keep_alive();
  const std::string id = std::to_string(allocation.job().value());
  const auto say = [&](const std::string& text) {
    if (!options.job.quiet) call.err += "salloc: " + text + "\n";
    flush(call);
  };
  say("Granted job allocation " + id);
  if (options.bell) call.err += "\a";
  auto job = whole_view(call, allocation.job());
  const auto overview = call.controller->overview();
  if (!job || !overview) {
    allocation.end({.code = 1});
    return call.fail(job ? overview.error().message : job.error().message);
  }
  say("Nodes " + nodes_text(job->nodes) + " are ready for job");
  if (options.no_shell) {
    allocation.leave();
    return 0;
  }
  Shell shell(call, signals, options);
  const int status =
      shell.run(command_of(call, line.command),
                command_environment(call, job.value(), overview->config.settings.cluster_name),
                allocation.job());
  if (shell.was_revoked()) return status;
  say("Relinquishing job allocation " + id);
  allocation.end({.code = 0});
  return status;
}

}  // namespace

int salloc(Call& call) {
  const OptionContext context{.program = "salloc", .now = call.now, .zone = call.zone};
  const auto line = parse_step_line(salloc_rows(), call.words, call.environment, false, context);
  if (!line) {
    call.err += line.error().message + "\n";
    return error_status(call);
  }
  const SbatchOptions& job = line->options.job;
  if (job.help || job.usage || job.version) {
    call.out += job.help ? kHelp : job.usage ? kUsage : kVersionLine;
    return 0;
  }
  if (const auto known = check_cluster(call, job.clusters.value_or("")); !known)
    return call.fail(known.error());
  return run_salloc(call, line.value());
}

}  // namespace drover::slurm
