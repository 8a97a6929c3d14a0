// drover-agent: one a node. Probes the machine, keeps a session with the controller, starts and
// watches what it is told. Ending it ends no job.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "agent/cri/commands.h"
#include "agent/cri/runtime.h"
#include "agent/driver/process.h"
#include "agent/member/membership.h"
#include "agent/pod/groups.h"
#include "agent/pod/host.h"
#include "agent/pod/pods.h"
#include "agent/pod/streams.h"
#include "agent/probe/address.h"
#include "agent/probe/device.h"
#include "agent/probe/host.h"
#include "agent/relay/api_door.h"
#include "agent/runner/runner.h"
#include "agent/session/agent.h"
#include "agent/session/inventory.h"
#include "agent/session/node_folder.h"
#include "cli/cluster_file.h"
#include "domain/pod_stream.h"
#include "native/discovery.h"
#include "os/clock.h"
#include "os/fd.h"
#include "os/file.h"
#include "os/process.h"
#include "relay/exchange.h"
#include "tls/transport.h"

namespace {

using namespace drover;  // NOLINT(google-build-using-namespace): an application file, included nowhere

struct Arguments {
  std::string cluster_file;
  std::string node;
  std::string state_dir;
  std::string controller;
  std::string join;
  std::string token;
  std::string address;
  std::string containerd = "/run/containerd/containerd.sock";
  std::string stream_listen;
  bool machine_names = false;
};

constexpr std::uint16_t kStreamPort = 7412;

std::string g_name = "drover-agent";

void say(const std::string& line) {
  const std::time_t now = std::time(nullptr);
  fmt::print(stderr, "{:%Y-%m-%dT%H:%M:%SZ} {}: {}\n", fmt::gmtime(now), g_name, line);
}

std::string host_name() {
  std::string name(256, '\0');
  if (::gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  name.resize(name.find('\0'));
  return name.substr(0, name.find('.'));
}

// Where a controller on another machine is asked; null for one on this machine.
Result<std::unique_ptr<agent::Membership>> membership(const Arguments& arguments) {
  const std::string file = arguments.state_dir + "/identity";
  if (arguments.controller.starts_with("unix:")) return std::unique_ptr<agent::Membership>();
  if (arguments.join.empty() && !file_exists(file)) {
    return Error{Errc::invalid,
                 "this node has not joined a cluster: run `drover node token` on the controller's "
                 "machine, and here what it prints"};
  }
  std::unique_ptr<agent::Membership> member;
  if (file_exists(file)) {
    member = TRY(agent::Membership::open(file));
    if (!arguments.controller.empty())
      member->move_to(TRY(wire::Endpoint::parse(arguments.controller)));
    const Status greeted = member->greet();
    if (!greeted && greeted.error().code != Errc::denied) say(greeted.error().message);
    if (!greeted && greeted.error().code == Errc::denied) {
      if (arguments.join.empty())
        return Error{greeted.error()}.under("the controller refuses this node");
      member.reset();
    }
  }
  if (!member) {
    const std::string node = arguments.node.empty() ? host_name() : arguments.node;
    const wire::Endpoint controller = TRY(wire::Endpoint::parse(arguments.join));
    member = TRY(agent::Membership::join(controller, arguments.token, node, file));
    say(fmt::format("joined as node {}", node));
  }
  if (!arguments.node.empty() && arguments.node != member->node()) {
    return Error{Errc::conflict, fmt::format("this machine has joined as node {}, not {}",
                                             member->node(), arguments.node)};
  }
  return member;
}

// For streams of steps between a node of the controller's own machine and others. Without one it works all the same,
// on this machine.
std::unique_ptr<agent::Membership> membership_here(const Arguments& arguments) {
  const auto controller = wire::Endpoint::parse(arguments.controller);
  if (!controller) return nullptr;  // who needs it says so
  constexpr int kTries = 50;  // both may be starting
  for (int i = 0;; ++i) {
    auto made = agent::Membership::here(*controller, arguments.node);
    if (made) return *std::move(made);
    if (made.error().code == Errc::conflict) return nullptr;
    if (made.error().code == Errc::unavailable && i < kTries) {
      ::usleep(100'000);
      continue;
    }
    say("other machines can't reach steps here until this agent is started again, for it has no certificate: " +
        made.error().message);
    return nullptr;
  }
}

Result<cli::NodeDeclaration> declaration(const Arguments& arguments) {
  const cli::ClusterFile file =
      arguments.cluster_file.empty()
          ? TRY(cli::parse_cluster_file(std::string(cli::default_cluster()), "the default cluster"))
          : TRY(cli::read_cluster_file(arguments.cluster_file));
  const cli::NodeDeclaration* node = file.node(arguments.node);
  if (node == nullptr) return Error{Errc::not_found, fmt::format("the cluster file has no node {}", arguments.node)};
  return *node;
}

// The runner's view of devices that the cluster file declares.
Result<std::vector<agent::DeviceInfo>> declared_devices(const NodeInventory& declared) {
  std::vector<agent::DeclaredDevice> devices;
  for (const DeviceInfo& device : declared.devices) {
    devices.push_back({.uuid = device.uuid,
                       .model = device.model,
                       .memory_bytes = device.memory.count(),
                       .compute_major = static_cast<std::int32_t>(device.capability / 10),
                       .compute_minor = static_cast<std::int32_t>(device.capability % 10),
                       .numa_node = device.numa,
                       .files = device.files});
  }
  return agent::declare_devices(declared.name, devices);
}

struct Devices {
  std::vector<agent::DeviceInfo> all;     // for the runner
  std::vector<agent::DeviceInfo> probed;  // for the inventory; declared ones stand in the file
};

Result<Devices> devices_of(cli::NodeDeclaration& node) {
  Devices devices;
  if (!node.probe_devices) {
    devices.all = TRY(declared_devices(node.declared));
    for (std::size_t i = 0; i < devices.all.size(); ++i) node.declared.devices[i].uuid = devices.all[i].uuid;
    return devices;
  }
  auto probe = agent::probe_nvidia();
  if (!probe) {
    if (probe.error().code != Errc::not_found) say(probe.error().message);
    return devices;
  }
  for (const std::string& fault : probe->faults) say(fault);
  devices.all = devices.probed = std::move(probe->devices);
  return devices;
}

Result<Fd> stop_signals() {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&signals, signal);
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  Fd fd(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd) return system_error(errno, "signalfd");
  return fd;
}

// The door for streams from other machines. Where nobody has said which port, one that is taken is no
// reason not to run: the controller tells who asks which one it is.
Result<relay::Exchange> exchange_of(const Arguments& arguments, const agent::Membership& member) {
  relay::Exchange exchange;
  exchange.pump = TRY(relay::Pump::start());
  exchange.dialer = std::make_unique<relay::Dialer>(member.context(), *exchange.pump);
  const bool told = !arguments.stream_listen.empty();
  relay::DoorOptions options{.at = wire::Endpoint::tcp("0.0.0.0", kStreamPort),
                             .context = member.door_context(),
                             .say = say};
  if (told) options.at = TRY(wire::Endpoint::parse(arguments.stream_listen));
  if (!options.at.path.empty()) return Error{Errc::invalid, "--stream-listen: is HOST:PORT"};
  auto door = relay::Door::open(options, *exchange.pump);
  if (!door && !told) {
    options.at.port = 0;
    door = relay::Door::open(options, *exchange.pump);
  }
  if (!door) return std::move(door).error().under("--stream-listen");
  exchange.door = std::move(*door);
  say(fmt::format("taking streams from other machines on port {}", exchange.door->port()));
  return exchange;
}

// As the controller is told it: the host only where this one alone is listened on.
std::string stream_address(const Arguments& arguments, const relay::Exchange& exchange) {
  const auto at = wire::Endpoint::parse(arguments.stream_listen);
  const bool everywhere = !at || at->host == "0.0.0.0" || at->host == "::";
  return (everywhere ? wire::Endpoint::tcp("", exchange.door->port())
                     : wire::Endpoint::tcp(at->host, exchange.door->port())).text();
}

// What the machine has, as it is found.
cli::NodeDeclaration of_this_machine(const std::string& name) {
  cli::NodeDeclaration node;
  node.declared.name = name;
  node.declared.cpus = 0;
  return node;
}

// What the pods of a node need, in the order in which it comes and goes.
struct PodSide {
  PodSide(const Arguments& arguments, const agent::NodeFolder& folder, agent::Runner& runner, std::string address,
          std::string hosts_path)
      : client(std::make_shared<const agent::cri::Client>(
            agent::cri::ClientOptions{.socket = arguments.containerd, .node = folder.cgroup_root})),
        images(client, workers),
        host(runner, workers),
        groups(folder.cgroup_root,
               [&runner](const std::vector<std::string>& uuids) { return runner.denied_to(runner.infos(uuids)); }),
        pods({.workers = &workers,
              .images = ::geteuid() == 0 ? &images : nullptr,
              .why_no_images = "without root an agent runs no containers",
              .host = &host,
              .groups = &groups,
              .brief = folder.path + "/pods",
              .lasting = arguments.state_dir + "/pods",
              .hosts_path = std::move(hosts_path),
              .address = agent::node_ip(address),
              .clock = [] { return agent::Moment{.boot = since_boot(), .wall = wall_now()}; },
              .devices = [&runner](const std::vector<std::string>& uuids) { return runner.infos(uuids); },
              .host_attempt = [this](const agent::Attempt& attempt) { host.on_attempt(attempt); },
              .say = say}),
        commands(client, folder.path + "/exec") {}
  // With `exchange`, streams come from the controller on another machine too.
  Status open_door(const std::string& stream_path, relay::Exchange* exchange) {
    door = TRY(agent::PodStreams::open({.path = pod_stream_path(stream_path), .directory = pods.directory(),
                                        .images = &commands}));
    if (exchange == nullptr) return Done{};
    abroad = exchange->door.get();
    abroad->serve(relay::kPodStream, [this, exchange](relay::Arrival arrival) {
      door->take(*exchange->pump, std::move(arrival));
    });
    return Done{};
  }
  PodSide(const PodSide&) = delete;
  PodSide& operator=(const PodSide&) = delete;
  ~PodSide() {
    if (abroad != nullptr) abroad->serve(relay::kPodStream, nullptr);
    client->cut_short();
  }

  agent::Workers workers;
  std::shared_ptr<const agent::cri::Client> client;
  agent::cri::CriRuntime images;
  agent::HostRuntime host;
  agent::PodCgroups groups;
  agent::Pods pods;
  agent::cri::CriCommands commands;
  std::unique_ptr<agent::PodStreams> door;
  relay::Door* abroad = nullptr;
};

Status run(Arguments arguments) {
  const Fd stop = TRY(stop_signals());
  TRY(make_folders(arguments.state_dir, 0755));
  const Fd lock = TRY(lock_file(arguments.state_dir + "/lock"));
  const auto member = TRY(membership(arguments));
  if (member) arguments.node = member->node();
  g_name = "drover-agent " + arguments.node;
  cli::NodeDeclaration node = member && arguments.cluster_file.empty()
                                  ? of_this_machine(arguments.node)
                                  : TRY(declaration(arguments));
  const auto own = member ? nullptr : membership_here(arguments);  // of this machine
  agent::Membership* const certified = member ? member.get() : own.get();
  if (own && node.declared.address.empty()) node.declared.address = own->host();
  if (!arguments.address.empty()) node.declared.address = arguments.address;
  const agent::NodeFolder folder = TRY(agent::node_folder(arguments.state_dir, arguments.node));
  const Devices devices = TRY(devices_of(node));
  const auto driver = TRY(agent::ProcessDriver::open({.shim_program = program_folder() + "/drover-shim",
                                                      .socket = folder.path + "/keeper.sock",
                                                      .folder = folder.path + "/jobs",
                                                      .cgroup_root = folder.cgroup_root,
                                                      .host_name = arguments.machine_names ? "" : arguments.node}));
  const agent::CgroupTree& cgroups = driver->cgroups();
  agent::Runner runner(*driver, {.devices = devices.all,
                                 .devices_confined = cgroups.backend() != agent::Backend::none,
                                 .environment = {"DROVER_AGENT=" + folder.path}});
  const std::string hosts_path = driver->hosts_path();
  std::vector<std::string> limitations = cgroups.off();
  if (hosts_path.empty() && !arguments.machine_names) {
    limitations.emplace_back("Jobs see the machine's host name and /etc/hosts, not the node's.");
  }
  const std::string stream_path = native::streams_in(folder.path);
  relay::Exchange exchange;
  if (certified != nullptr) exchange = TRY(exchange_of(arguments, *certified));
  const std::string streams_at = certified != nullptr ? stream_address(arguments, exchange) : "";
  const Instant started = wall_now();
  const agent::AgentOptions options{
      .controller =
          member ? member->controller() : TRY(wire::Endpoint::parse(arguments.controller)),
      .websocket =
          member ? tls::client_websocket(member->context(), tls::expect_controller()) : nullptr,
      .journal_path = folder.path + "/journal",
      .node = arguments.node,
      .stream_path = stream_path,
      .part_path = [&](const std::string& key) { return driver->stream_path(key); },
      .hosts_path = hosts_path,
      .exchange = certified != nullptr ? &exchange : nullptr,
      .inventory = [&] {
        return agent::make_inventory({.declared = node.declared, .host = agent::probe_host(), .probed = devices.probed,
                                      .limitations = limitations, .stream_path = stream_path,
                                      .stream_address = streams_at,
                                      .version = DROVER_VERSION,
                                      .agent_started = started});
      },
      .pulse = [declared = node.declared.memory.count()] {
        const agent::HostInfo host = agent::probe_host();
        // Of a node that declares more than its machine has: as much as declared, but for what is in use.
        const std::int64_t beyond = std::max<std::int64_t>(0, declared - host.memory_bytes);
        return agent::Pulse{.load_centi = static_cast<std::uint32_t>(host.load_centi),
                            .memory_free = Bytes::of(host.memory_available + beyond)};
      },
      .say = say};
  if (certified != nullptr) certified->keep_renewed(say);
  const auto pump = TRY(relay::Pump::start());  // its own, so that no step's output slows it down
  std::unique_ptr<agent::ApiDoor> api;
  if (member) {
    api = TRY(agent::ApiDoor::open({.path = native::socket_in(folder.path),
                                    .controller = member->controller(),
                                    .context = member->context()},
                                   *pump));
  }
  PodSide pod_side(arguments, folder, runner, node.declared.address, hosts_path);
  TRY(pod_side.open_door(stream_path, member ? &exchange : nullptr));
  say("ready");
  return agent::run_agent(options, runner, pod_side.pods, stop.get());
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"The drover agent: one on each node. `drover up` starts those of this machine."};
  Arguments arguments;
  app.add_option("--cluster", arguments.cluster_file, "Cluster file (YAML); without it, the default cluster");
  app.add_option("--node", arguments.node, "Which node this is; for one that joins: else as the machine is called");
  app.add_option("--state", arguments.state_dir, "Folder of this node")->required();
  CLI::Option* const controller = app.add_option(
      "--controller", arguments.controller,
      "unix:PATH on the same machine; else HOST:PORT, if it has moved since this node joined");
  app.add_option("--join", arguments.join,
                 "HOST:PORT of the controller whose cluster this machine joins")
      ->excludes(controller);
  app.add_option("--token", arguments.token, "From `drover node token`; needed once");
  app.add_option("--address", arguments.address,
                 "How other nodes reach this one (a name or an IP address)");
  app.add_option("--containerd", arguments.containerd, "Socket of the containerd that runs pods' containers");
  app.add_option("--stream-listen", arguments.stream_listen,
                 "HOST:PORT where streams of steps and pods come in from other machines; 0.0.0.0:7412, or a free port "
                 "if that one is taken");
  app.add_flag("--machine-names", arguments.machine_names,
               "Jobs see the machine's host name and /etc/hosts, not the node's and the cluster's");
  app.set_version_flag("--version", DROVER_VERSION);
  CLI11_PARSE(app, argc, argv);
  if (arguments.controller.starts_with("unix:") && arguments.node.empty()) {
    say("--node is needed with --controller unix:PATH");
    return 2;
  }
  ::umask(022);
  ::signal(SIGPIPE, SIG_IGN);
  const auto ended = run(arguments);
  if (ended) return 0;
  say(ended.error().message);
  return 2;
}
