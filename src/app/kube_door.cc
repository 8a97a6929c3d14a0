#include "app/kube_door.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <mutex>
#include <optional>

#include "base/proto.h"
#include "base/resume.h"
#include "base/text.h"
#include "kube/rest/body.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/socket.h"
#include "os/user.h"
#include "tls/transport.h"

namespace drover::app {
namespace {

// The user database is asked once in a while only: it may be a server.
class People {
 public:
  kube::User find(std::uint32_t uid, const std::string& name) {
    const std::lock_guard lock(mutex_);
    Known& known = known_[uid];
    if (known.at != Duration{0} && since_boot() - known.at < kGood) return known.user;
    known.at = since_boot();
    kube::User& user = known.user;
    user = {.name = name.empty() ? std::to_string(uid) : name, .uid = uid, .gid = uid};
    const auto account = user_by_id(uid);
    if (!account) return user;
    user.name = account->name;
    user.gid = account->gid;
    if (const auto group = group_name(account->gid)) user.group = *group;
    if (const auto groups = groups_of(*account)) user.groups.assign(groups->begin(), groups->end());
    return user;
  }

 private:
  static constexpr Duration kGood = minutes(1);
  struct Known {
    Duration at{0};
    kube::User user;
  };
  std::mutex mutex_;
  std::map<std::uint32_t, Known> known_;
};

kube::Identify identify(control::Authority& authority, api::Service& service) {
  const auto people = std::make_shared<People>();
  return [people, &authority, &service](const wire::Request& request) -> std::optional<kube::User> {
    kube::User user{.name = "system:anonymous", .anonymous = true};
    if (request.peer.certified) {
      const auto who = tls::identity_of(request.peer);
      if (!who || who->kind != tls::Identity::Kind::user) return std::nullopt;
      if (authority.is_revoked(request.peer.certified->serial)) return std::nullopt;
      user = people->find(who->uid, who->name);
      if (user.name != who->name) return std::nullopt;  // the uid is somebody else's by now
    }
    if (user.anonymous) return user;
    user.admin = user.uid == 0;
    service.read([&](const Cluster& cluster, Instant) {
      const auto& admins = cluster.config().settings.admins;
      user.admin = user.admin || std::ranges::find(admins, user.uid) != admins.end();
    });
    return user;
  };
}

// What a stream's client is told when a node's agent can't be reached, in the stream's own words.
std::string away(const Error& error) { return frame(encode(PodAttached{.error = error.message, .away = true})); }

// Asks the agent of a node on this machine, at its door for streams of pods beside that of steps.
Result<Fd> reach_here(const NodeInventory& node, const PodAttach& ask) {
  auto connected = connect_stream(pod_stream_path(node.stream_path));
  if (!connected) return Error{Errc::unavailable, "the agent of node " + node.name + " isn't there"};
  Fd agent = std::move(*connected);
  const std::string opening = frame(encode(ask));
  const ssize_t n = ::send(agent.get(), opening.data(), opening.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (n != static_cast<ssize_t>(opening.size())) return Error{Errc::unavailable, "its agent takes nothing"};
  return agent;
}

// The same from another machine, where its agent has a door with certificates.
Result<Fd> reach_afar(relay::Dialer& dialer, const NodeInventory& node, const PodAttach& ask) {
  std::array<int, 2> ends{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0)
    return system_error(errno, "socketpair");
  Fd near(ends[0]);
  dialer.call({.plain = Fd(ends[1]),
               .target = {.node = node.name, .address = node.stream_address},
               .opening = {.kind = std::string(relay::kPodStream), .ask = encode(ask)},
               .refused = away});
  return near;
}

Result<Fd> reach(api::Service& service, relay::Dialer* dialer, const std::string& name, const PodAttach& ask) {
  std::optional<NodeInventory> node;
  service.nodes([&](const api::NodeView& view) {
    if (view.node.inventory.name == name) node = view.node.inventory;
  });
  if (!node) return Error{Errc::not_found, "there is no node " + name};
  if (node->stream_address.empty() || dialer == nullptr) return reach_here(*node, ask);
  return reach_afar(*dialer, *node, ask);
}

std::string port_file(const KubeDoorOptions& options) { return options.state_dir + "/kubernetes.port"; }

}  // namespace

Result<std::unique_ptr<KubeDoor>> KubeDoor::open(KubeDoorOptions options, control::Authority& authority,
                                                 control::Controller& controller) {
  std::unique_ptr<KubeDoor> door(new KubeDoor(std::move(options), authority));
  const auto at = TRY(wire::Endpoint::parse(door->options_.at));
  door->hosts_ = {door->options_.host,     at.host, "127.0.0.1", "localhost", "kubernetes", "kubernetes.default",
                  "kubernetes.default.svc"};
  const auto own = TRY(authority.controller(door->hosts_));
  door->context_ = TRY(tls::Context::make(
      tls::Context::Side::server, own,
      {.cluster = controller.service().overview().cluster_id,
       .revoked = [&authority](const tls::CertificateInfo& info) { return authority.is_revoked(info.serial); }}));
  const tls::Signer signer = TRY(authority.signer());
  api::Service& service = controller.service();
  door->kube_ = std::make_unique<kube::Server>(
      service,
      kube::ServerOptions{
          .identify = identify(authority, service),
          .address = [d = door.get()] { return d->address(); },
          .now = wall_now,
          .say = door->options_.say,
          .reach = [&service, dialer = door->options_.dialer](
                       const std::string& node, const PodAttach& ask) { return reach(service, dialer, node, ask); },
          .keys = {.sign = [signer](std::string_view bytes) { return signer.sign(bytes); },
                   .is_ours = [signer](std::string_view bytes, std::string_view signature) {
                     return signer.is_mine(bytes, signature);
                   }},
          .authority = authority.certificate()});
  door->kube_->start();
  TRY(door->listen());
  door->options_.say(fmt::format("serving Kubernetes on https://{}", door->address()));
  return door;
}

Status KubeDoor::listen() {
  wire::Endpoint at = TRY(wire::Endpoint::parse(options_.at));
  wire::ServerOptions server{.at = at, .max_body = kube::kMostBytes + 65'536, .max_stream_queue = 64U << 20U};
  server.transport = tls::server_transport(context_, [](const std::string&) {});  // scanners are no news
  const auto handle = [this](wire::Request&& request, const wire::Responder& responder) {
    kube_->handle(std::move(request), responder);
  };
  if (at.port == 0) {
    // Clients keep the address: after a restart it is to be the same.
    const auto kept = read_file(port_file(options_));
    const auto port = kept ? parse_uint(trim(*kept)) : std::nullopt;
    if (port && *port > 0 && *port < 65'536) {
      server.at.port = static_cast<std::uint16_t>(*port);
      // A connection of somebody else may have that number for a moment.
      for (int tries = 0; tries < 30; ++tries) {
        if (auto started = wire::Server::start(server, handle)) {
          server_ = *std::move(started);
          port_ = server_->port();
          return Done{};
        }
        ::usleep(100'000);
      }
      options_.say(fmt::format("port {} is taken: kubeconfigs must be printed anew", *port));
      server.at.port = 0;
    }
  }
  server_ = TRY(wire::Server::start(std::move(server), handle));
  port_ = server_->port();
  return write_file_durably(port_file(options_), std::to_string(server_->port()) + "\n");
}

std::string KubeDoor::address() const {
  const auto at = wire::Endpoint::parse(options_.at);
  const bool everywhere = at->host == "0.0.0.0" || at->host == "::";
  return wire::Endpoint::tcp(everywhere ? options_.host : at->host, port_).text();
}

void KubeDoor::renew() {
  const auto fresh = authority_.controller(hosts_);
  const Status done = fresh ? context_->replace(*fresh) : Status(fresh.error());
  if (!done)
    options_.say(fmt::format("the Kubernetes door's certificate can't be renewed: {}", done.error().message));
}

void KubeDoor::stop() {
  kube_->stop();
  server_->stop();
}

KubeDoor::~KubeDoor() = default;

}  // namespace drover::app
