// droverd: the controller. Ties the store, the core, the doors' servers and the sessions together.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>

#include "base/text.h"
#include "cli/cluster_file.h"
#include "control/controller.h"
#include "native/discovery.h"
#include "native/server.h"
#include "os/file.h"
#include "os/process.h"
#include "slurm/launch/batch.h"
#include "slurm/launch/mail.h"
#include "wire/http_server.h"

namespace {

using namespace drover;  // NOLINT(google-build-using-namespace): an application file, included nowhere

// The exit codes that a supervisor may act on.
constexpr int kRefused = 2;  // the arguments, the cluster file or the store: starting again won't help
constexpr int kStopped = 3;  // the store could not keep a fact: start again, the log decides

void say(const std::string& line) {
  const std::time_t now = std::time(nullptr);
  fmt::print(stderr, "{:%Y-%m-%dT%H:%M:%SZ} droverd: {}\n", fmt::gmtime(now), line);
}

[[noreturn]] void fail(const std::string& why) {
  say(why);
  std::fflush(nullptr);
  ::_exit(kStopped);  // at once: whatever is queued must not leave
}

struct Arguments {
  std::string state_dir;
  std::string cluster_file;
};

control::DoorLaunches doors() {
  control::DoorLaunches doors;
  doors["slurm"] = [](const control::LaunchInput& in, Launch& launch) {
    slurm::fill_batch(in.cluster, in.job, in.spec, in.environment, launch);
  };
  return doors;
}

// Letters to the owners of jobs. The mail program is started and not waited for (its end is reaped by
// the kernel); words of users are arguments, never read by a shell.
void write_letters(const Cluster& cluster, const Event& fact,
                   const std::function<Result<JobSpec>(const PayloadHash&)>& spec_of) {
  const Job* job = cluster.job(slurm::mail_subject(fact));
  if (job == nullptr) return;
  const auto spec = spec_of(job->spec);
  if (!spec || spec->door != "slurm") return;
  const auto mail = slurm::mail_of(cluster, fact, *spec);
  if (!mail) return;
  const auto sent = spawn({cluster.config().settings.mail_program, "-s", mail->subject, mail->to});
  if (!sent) say(fmt::format("no letter for job {}: {}", job->id.value(), sent.error().message));
}

Result<cli::ClusterFile> cluster_of(const Arguments& arguments) {
  if (!arguments.cluster_file.empty()) return cli::read_cluster_file(arguments.cluster_file);
  return cli::parse_cluster_file(std::string(cli::default_cluster()), "the default cluster");
}

Status serve(const Arguments& arguments, const sigset_t& signals) {
  cli::ClusterFile cluster = TRY(cluster_of(arguments));
  // Whoever started the cluster looks after it.
  if (::geteuid() != 0) cluster.config.settings.admins.push_back(::geteuid());
  TRY(make_folders(arguments.state_dir, 0755));
  TRY(make_folders(arguments.state_dir + "/store", 0700));
  auto controller = TRY(control::Controller::start({.state_dir = arguments.state_dir,
                                                    .version = DROVER_VERSION,
                                                    .config = std::move(cluster.config),
                                                    .doors = doors(),
                                                    .notice = write_letters,
                                                    .say = say,
                                                    .fail = fail}));
  native::Server native(controller->service(), native::identify_local());
  const auto handle = [&](wire::Request&& request, wire::Responder responder) {
    if (request.target == "/v1/agent") {
      controller->accept_agent(request, std::move(responder));
    } else if (native::Server::serves(request)) {
      native.handle(std::move(request), responder);
    } else {
      responder.answer(wire::text_answer(404, "no such address\n"));
    }
  };
  const wire::Endpoint socket = wire::Endpoint::unix_socket(native::socket_in(arguments.state_dir));
  auto server = TRY(wire::Server::start({.at = socket, .mode = 0666}, handle));
  say(fmt::format("serving on {}", socket.text()));
  int signal = 0;
  ::sigwait(&signals, &signal);
  say(fmt::format("stopping ({})", ::strsignal(signal)));
  controller->stop();
  server->stop();
  say("stopped");
  return Done{};
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"The drover controller. `drover up` starts it for you."};
  Arguments arguments;
  app.add_option("--state", arguments.state_dir, "Folder for everything that must survive")->required();
  app.add_option("--cluster", arguments.cluster_file, "Cluster file (YAML); without it, the default cluster");
  app.set_version_flag("--version", DROVER_VERSION);
  CLI11_PARSE(app, argc, argv);

  ::umask(022);
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGCHLD, SIG_IGN);  // mail programs are the only children, and nobody waits for them
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&signals, signal);
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);  // before the first thread, so that all inherit it

  const auto served = serve(arguments, signals);
  if (served) return 0;
  say(served.error().message);
  return kRefused;
}
