// droverd: the controller. Ties the store, the core, the doors' servers and the sessions together.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>

#include "app/kube_door.h"
#include "base/text.h"
#include "cli/amounts.h"
#include "cli/cluster_file.h"
#include "control/authority.h"
#include "control/controller.h"
#include "control/gate.h"
#include "control/step_relay.h"
#include "native/discovery.h"
#include "native/server.h"
#include "os/file.h"
#include "os/process.h"
#include "relay/exchange.h"
#include "slurm/launch/batch.h"
#include "slurm/launch/mail.h"
#include "slurm/launch/step.h"
#include "tls/context.h"
#include "tls/transport.h"
#include "wire/http_server.h"

namespace {

using namespace drover;  // NOLINT(google-build-using-namespace): an application file, included nowhere

// The exit codes that a supervisor may act on.
constexpr int kRefused = 2;  // the arguments, the cluster file or the store: starting again won't help
constexpr int kStopped = 3;  // the store could not keep a fact: start again, the log decides

// A session for each node of the largest cluster, and their users.
constexpr std::size_t kMostPeers = 20'000;

// As many files as we may: a login gets 1,024 at first, and each node's session is one.
void allow_many_files() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
}

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
  std::string listen;
  std::string certificate_life;
  std::string user_life;
  std::string kubernetes;
};

// The Kubernetes door is opened after the controller whose pods it knows.
using KubePlace = std::shared_ptr<std::unique_ptr<app::KubeDoor>>;

control::DoorLaunches doors(const KubePlace& kube) {
  control::DoorLaunches doors;
  doors["kubernetes"].pod = [kube](const Cluster& cluster, const Job& job,
                                   const NodeShare& share) -> Result<PodLaunch> {
    if (!*kube) return Error{Errc::unavailable, "the controller has no Kubernetes door any more"};
    return (*kube)->server().launch(cluster, job, share);
  };
  doors["slurm"].batch = [](const control::LaunchInput& in, Launch& launch) {
    slurm::fill_batch(in.cluster, in.job, in.spec, in.environment, launch);
  };
  doors["slurm"].step = slurm::fill_step;
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

std::string host_name() {
  std::string name(256, '\0');
  if (::gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  name.resize(name.find('\0'));
  return name;
}

// The controller's door to other machines, open only when the cluster file or the command line says
// where.
struct Door {
  std::unique_ptr<control::Authority> authority;
  std::vector<std::string> hosts;
  std::shared_ptr<tls::Context> context;
  std::shared_ptr<tls::Context> calls;  // the same for connections to nodes
  std::unique_ptr<control::Gate> gate;
  std::unique_ptr<wire::Server> server;
  relay::Exchange exchange;
  std::unique_ptr<control::StepRelay> steps;

  // A new certificate of its own, long before the old one ends.
  void renew() const {
    if (!context) return;
    const auto fresh = authority->controller(hosts);
    Status done = fresh ? context->replace(*fresh) : Status(fresh.error());
    if (done) done = calls->replace(*fresh);
    if (!done)
      say(fmt::format("the controller's certificate can't be renewed: {}", done.error().message));
  }
};

Result<Door> door_of(const Arguments& arguments, const cli::ClusterFile& cluster,
                     control::Controller& controller) {
  const std::string& listen = arguments.listen.empty() ? cluster.listen : arguments.listen;
  control::AuthorityOptions options{.folder = arguments.state_dir + "/identity",
                                    .cluster = controller.service().overview().cluster_id};
  if (!arguments.certificate_life.empty())
    options.node_life = TRY(cli::parse_duration(arguments.certificate_life));
  if (!arguments.user_life.empty()) options.user_life = TRY(cli::parse_duration(arguments.user_life));
  Door door{.authority = TRY(control::Authority::open(options))};
  wire::Endpoint at;
  if (!listen.empty()) {
    at = TRY(wire::Endpoint::parse(listen));
    if (!at.path.empty()) return Error{Errc::invalid, "listen: is HOST:PORT"};
    door.hosts = {host_name(), at.host};
    const auto own = TRY(door.authority->controller(door.hosts));
    const tls::Rules rules{.cluster = options.cluster,
                           .revoked = [authority = door.authority.get()](const tls::CertificateInfo& info) {
                             return authority->is_revoked(info.serial);
                           }};
    door.context = TRY(tls::Context::make(tls::Context::Side::server, own, rules));
    door.calls = TRY(tls::Context::make(tls::Context::Side::client, own, rules));
  }
  const bool everywhere = at.host == "0.0.0.0" || at.host == "::";
  control::GateOptions gate{.say = say};
  if (door.context)
    gate.address = wire::Endpoint::tcp(everywhere ? host_name() : at.host, at.port).text();
  for (const cli::NodeDeclaration& node : cluster.nodes) {
    if (node.submit) gate.submit_nodes.insert(node.declared.name);
  }
  door.gate = std::make_unique<control::Gate>(std::move(gate), *door.authority, controller);
  if (!door.context) return door;
  // Two threads: when all nodes come back at once, their handshakes are what takes time.
  wire::ServerOptions server{
      .at = at, .threads = 2, .max_connections = kMostPeers, .idle_timeout = std::chrono::seconds(60)};
  server.transport = tls::server_transport(door.context, [](const std::string& why) {
    say(fmt::format("connection refused: {}", why));
  });
  door.server = TRY(wire::Server::start(
      std::move(server),
      [gate = door.gate.get()](wire::Request&& request, const wire::Responder& responder) {
        gate->handle(std::move(request), responder);
      }));
  say(fmt::format("serving nodes on {}", at.text()));
  door.exchange.pump = TRY(relay::Pump::start());
  door.exchange.dialer = std::make_unique<relay::Dialer>(door.calls, *door.exchange.pump);
  return door;
}

// Until a signal to stop comes; does daily work meanwhile.
int wait_for_stop(const sigset_t& signals, const Door& door, app::KubeDoor* kube) {
  constexpr timespec kDay{24L * 3600, 0};
  for (;;) {
    const int signal = ::sigtimedwait(&signals, nullptr, &kDay);
    if (signal > 0) return signal;
    if (errno != EAGAIN) continue;
    door.renew();
    if (kube != nullptr) kube->renew();
  }
}

Status serve(const Arguments& arguments, const sigset_t& signals) {
  cli::ClusterFile cluster = TRY(cluster_of(arguments));
  // Whoever started the cluster looks after it.
  if (::geteuid() != 0) cluster.config.settings.admins.push_back(::geteuid());
  TRY(make_folders(arguments.state_dir, 0755));
  TRY(make_folders(arguments.state_dir + "/store", 0700));
  const KubePlace kube = std::make_shared<std::unique_ptr<app::KubeDoor>>();
  auto controller = TRY(control::Controller::start({.state_dir = arguments.state_dir,
                                                    .version = DROVER_VERSION,
                                                    .config = cluster.config,
                                                    .doors = doors(kube),
                                                    .notice = write_letters,
                                                    .say = say,
                                                    .fail = fail}));
  Door door = TRY(door_of(arguments, cluster, *controller));
  const std::string& at = arguments.kubernetes.empty() ? cluster.kubernetes : arguments.kubernetes;
  if (!at.empty() && at != "off") {
    *kube = TRY(app::KubeDoor::open({.at = at, .state_dir = arguments.state_dir, .host = host_name(),
                                     .dialer = door.exchange.dialer.get(), .say = say},
                                    *door.authority, *controller));
    door.gate->set_kubernetes([kube] { return (*kube)->address(); });
  }
  native::Server native(controller->service(), native::identify_local());
  const auto handle = [&](wire::Request&& request, wire::Responder responder) {
    if (request.target == "/v1/agent") {
      controller->accept_agent(request, std::move(responder));
    } else if (door.gate->manage(request, responder)) {
      return;
    } else if (native::Server::serves(request)) {
      native.handle(std::move(request), responder);
    } else {
      responder.answer(wire::text_answer(404, "no such address\n"));
    }
  };
  const wire::Endpoint socket = wire::Endpoint::unix_socket(native::socket_in(arguments.state_dir));
  auto server = TRY(wire::Server::start({.at = socket, .mode = 0666}, handle));
  if (door.context) {
    door.steps = TRY(control::StepRelay::open(native::streams_in(arguments.state_dir), controller->service(),
                                              door.exchange));
    door.gate->set_steps([steps = door.steps.get()](const StepAttach& wish, std::uint32_t uid) {
      return steps->reach(wish, uid);
    });
  }
  say(fmt::format("serving on {}", socket.text()));
  const int signal = wait_for_stop(signals, door, kube->get());
  say(fmt::format("stopping ({})", ::strsignal(signal)));
  if (*kube) (*kube)->stop();
  door.gate->set_steps(nullptr);
  door.steps.reset();
  controller->stop();
  server->stop();
  if (door.server) door.server->stop();
  say("stopped");
  return Done{};
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"The drover controller. `drover up` starts it for you."};
  Arguments arguments;
  app.add_option("--state", arguments.state_dir, "Folder for everything that must survive")->required();
  app.add_option("--cluster", arguments.cluster_file, "Cluster file (YAML); without it, the default cluster");
  app.add_option("--listen", arguments.listen, "HOST:PORT for nodes on other machines; else as the cluster file says");
  app.add_option("--certificate-life", arguments.certificate_life,
                 "How long a node's certificate is valid (7d); nodes renew it after two thirds of that");
  app.add_option("--user-certificate-life", arguments.user_life,
                 "How long a person's certificate is valid (30d): a login's or a kubeconfig's");
  app.add_option("--kubernetes", arguments.kubernetes,
                 "HOST:PORT of the Kubernetes door (port 0: any free one), or off; else as the cluster file says");
  app.set_version_flag("--version", DROVER_VERSION);
  CLI11_PARSE(app, argc, argv);

  ::umask(022);
  allow_many_files();
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
