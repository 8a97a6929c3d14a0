#include "control/sessions.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/proto.h"
#include "base/text.h"
#include "os/clock.h"
#include "tls/certificate.h"

namespace drover::control {
namespace {

// Where a node is that was told no address: where it comes from, or here.
std::string address_of(const wire::Peer& peer) {
  if (!peer.certified) return "127.0.0.1";
  const std::string host = peer.address.substr(0, peer.address.rfind(':'));  // "10.0.0.1:4711", "[::1]:4711"
  return host.starts_with('[') ? host.substr(1, host.size() - 2) : host;
}

// ":7412" is wherever the node is.
std::string stream_address_of(const NodeInventory& node) {
  const std::string& at = node.stream_address;
  if (!at.starts_with(':')) return at;
  const bool v6 = node.address.find(':') != std::string::npos;
  return (v6 ? "[" + node.address + "]" : node.address) + at;
}

HostAddress host_of(const Node& node) { return {.name = node.name(), .address = node.inventory.address}; }

}  // namespace

Sessions::Sessions(Options options, Driver& driver, Payloads& payloads, store::Log& log)
    : options_(std::move(options)), driver_(driver), payloads_(payloads), log_(log) {}

void Sessions::accept(const wire::Request& request, wire::Responder responder) {
  const auto& local = request.peer.local;
  const bool certified = request.peer.certified.has_value();  // the gate lets only nodes come here
  if (!certified && (!local || (local->uid != 0 && local->uid != ::geteuid()))) {
    responder.answer(wire::text_answer(403, "only root and the controller's own user may be an agent\n"));
    return;
  }
  responder.upgrade({
      .on_open = [](const wire::WsSessionPtr&) {},
      .on_message = [this](const wire::WsSessionPtr& s, std::string& message) { return on_message(s, message); },
      .on_close = [this](const wire::WsSessionPtr& s, const std::string& why) { on_close(s, why); },
  });
}

bool Sessions::send(const wire::WsSessionPtr& socket, const ToAgent& message) {
  if (socket->send(wire::bytes(encode(message))) == wire::WsSession::Sent::queued) return true;
  socket->close();  // too slow or gone: it comes back, and gets the whole set
  return false;
}

void Sessions::refuse(const wire::WsSessionPtr& socket, std::string reason) {
  options_.say(fmt::format("agent refused: {}", reason));
  send(socket, Refuse{std::move(reason)});
  socket->close();
}

HeadSeen Sessions::head() const {
  const store::Head head = log_.head();
  return {.position = head.position, .hash = to_domain(head.hash)};
}

Sessions::SessionPtr Sessions::of(const wire::WsSessionPtr& socket) {
  const std::lock_guard lock(mutex_);
  const auto found = sessions_.find(socket.get());
  if (found == sessions_.end()) return nullptr;
  if (found->second->node) heard_[found->second->node] = since_boot();
  return found->second;
}

bool Sessions::on_message(const wire::WsSessionPtr& socket, const std::string& bytes) {
  auto message = decode<FromAgent>(bytes);
  if (!message) {
    refuse(socket, message.error().message);
    return true;
  }
  return std::visit([&](auto& m) { return on(socket, std::move(m)); }, *message);
}

bool Sessions::on(const wire::WsSessionPtr& socket, Hello hello) {
  const std::string name = hello.inventory.name;
  if (const auto& shown = socket->peer().certified) {
    const auto who = tls::Identity::parse(shown->identity);
    if (!who || who->kind != tls::Identity::Kind::node || who->name != name) {
      refuse(socket,
             fmt::format("{} calls itself node {}", printable(shown->identity), printable(name)));
      return true;
    }
  }
  if (hello.protocol != 1) {
    refuse(socket, fmt::format("protocol {}, not 1: update the agent of {}", hello.protocol, printable(name)));
    return true;
  }
  if (!hello.cluster_id.empty() && hello.cluster_id != options_.cluster_id) {
    refuse(socket, fmt::format("{} belongs to cluster {}, this is {}", printable(name), printable(hello.cluster_id),
                               options_.cluster_id));
    return true;
  }
  if (hello.epoch > options_.epoch) {
    options_.fail(fmt::format("agent {} has seen epoch {}, this store knows {}: it is an old copy; restore the newest",
                              printable(name), hello.epoch.value(), options_.epoch.value()));
    return true;
  }
  if (hello.head.position > 0) {
    if (const auto seen = log_.check_seen(hello.head.position, to_store(hello.head.hash)); !seen) {
      options_.fail(fmt::format("agent {}: {}", printable(name), seen.error().message));
      return true;
    }
  }
  auto session = std::make_shared<Session>();
  session->socket = socket;
  session->name = name;
  session->hosts_known = hello.hosts;
  NodeRegister input{.inventory = std::move(hello.inventory), .held = std::move(hello.held)};
  if (input.inventory.address.empty()) input.inventory.address = address_of(socket->peer());
  input.inventory.stream_address = stream_address_of(input.inventory);
  {
    const std::lock_guard lock(mutex_);
    sessions_[socket.get()] = session;
    if (const auto old = by_name_.find(name); old != by_name_.end() && old->second->socket != socket) {
      old->second->socket->close();
    }
    by_name_[name] = session;
  }
  // The answer comes through Sessions::welcome, when the registration is a fact.
  return driver_.push({.input = std::move(input)});
}

void Sessions::welcome(const Cluster& cluster, const std::string& name) {
  const Node* node = cluster.node(name);
  SessionPtr session;
  {
    const std::lock_guard lock(mutex_);
    const auto found = by_name_.find(name);
    if (node == nullptr || found == by_name_.end()) return;
    session = found->second;
    session->node = node->id;
    by_node_[node->id] = session;
    heard_[node->id] = since_boot();
    silent_.erase(node->id);
  }
  note_host(cluster, *node);
  options_.say(fmt::format("node {} is up", printable(name)));
  send(session->socket, Welcome{.cluster_id = options_.cluster_id,
                                .epoch = options_.epoch,
                                .node = node->id,
                                .heartbeat = std::min(Duration(seconds(5)), cluster.config().settings.node_timeout / 4),
                                .head = head()});
  send_wanted(cluster, *session, true);
}

bool Sessions::on(const wire::WsSessionPtr& socket, const Heartbeat& beat) {
  const SessionPtr session = of(socket);
  if (!session || !session->node) return true;
  const std::lock_guard lock(mutex_);
  pulses_[session->node] = {.load_centi = beat.load_centi, .memory_free = beat.memory_free};
  std::uint64_t digest = 0;
  for (const auto& [part, end] : session->sent) digest += digest_of(part.job, part.attempt, part.step, end);
  if (beat.revision.value() == session->revision && beat.digest != digest) resend_.insert(session->node);
  return true;
}

bool Sessions::on(const wire::WsSessionPtr& socket, const NeedPayload& need) {
  const auto body = payloads_.get(need.hash);
  if (!body) {
    options_.say(fmt::format("a payload that an agent needs: {}", body.error().message));
    return true;
  }
  send(socket, PayloadBody{.hash = need.hash, .bytes = **body});
  return true;
}

bool Sessions::on(const wire::WsSessionPtr& socket, const NeedPod& need) {
  const SessionPtr session = of(socket);
  if (!session || !session->node) return true;
  send(socket, options_.pod(session->node, need));
  return true;
}

bool Sessions::on(const wire::WsSessionPtr& socket, PodNotes notes) {
  const SessionPtr session = of(socket);
  if (session && session->node) options_.note(session->node, std::move(notes));
  return true;
}

bool Sessions::on(const wire::WsSessionPtr& socket, Report report) {
  const SessionPtr session = of(socket);
  if (!session || !session->node) return false;  // reports follow the welcome
  Input input = std::visit(
      [&](auto& body) -> Input {
        body.node = session->node;  // an agent speaks for its own node alone
        return body;
      },
      report.body);
  const auto stored = [this, socket, sequence = report.sequence](const StepAnswer&) {
    send(socket, ReportsStored{sequence});
  };
  return driver_.push({.input = std::move(input), .done = stored});
}

void Sessions::on_close(const wire::WsSessionPtr& socket, const std::string& why) {
  const std::lock_guard lock(mutex_);
  const auto found = sessions_.find(socket.get());
  if (found == sessions_.end()) return;
  const SessionPtr session = found->second;
  sessions_.erase(found);
  if (const auto named = by_name_.find(session->name); named != by_name_.end() && named->second == session) {
    by_name_.erase(named);
    options_.say(fmt::format("session of {} closed: {}", printable(session->name), printable(why)));
  }
  if (const auto known = by_node_.find(session->node); known != by_node_.end() && known->second == session) {
    by_node_.erase(known);
  }
}

void Sessions::sync(const Cluster& cluster, const std::vector<NodeId>& nodes) {
  for (const NodeId node : std::set<NodeId>(nodes.begin(), nodes.end())) {
    SessionPtr session;
    {
      const std::lock_guard lock(mutex_);
      const auto found = by_node_.find(node);
      if (found == by_node_.end()) continue;
      session = found->second;
    }
    send_wanted(cluster, *session, false);
  }
}

// Only the follower's thread comes here, so a session's wanted set needs the lock for readers alone.
void Sessions::send_wanted(const Cluster& cluster, Session& session, bool full) {
  Wanted wanted{.epoch = options_.epoch, .full = full};
  std::map<Part, bool> now;
  // True: the part is news to the agent, and stands in `wanted`.
  const auto want = [&](const Part& part, bool end, Cause cause) {
    now[part] = end;
    const auto known = session.sent.find(part);
    const bool fresh = full || known == session.sent.end();
    if (!fresh && known->second == end) return false;
    wanted.entries.push_back({.job = part.job, .attempt = part.attempt, .end = end, .end_cause = cause,
                              .grace = cluster.config().settings.kill_grace, .step = part.step});
    return fresh;
  };
  for (const JobId id : cluster.node(session.node).jobs) {
    const Job& job = cluster.jobs().at(id);
    const bool end = job.phase == Phase::ending;
    if (want({.job = id, .attempt = job.run->attempt}, end, job.cause)) {
      add_launch(cluster, job, session, wanted.entries.back());
    }
    for (const auto& [number, step] : cluster.steps(id).steps) {
      if (!step.uses(session.node)) continue;
      const bool step_end = end || step.phase == StepPhase::ending;
      const Part part{.job = id, .attempt = job.run->attempt, .step = number};
      const bool fresh = want(part, step_end, Cause::cancelled);
      if (!fresh || add_step_launch(cluster, job, step, session.node, wanted.entries.back())) continue;
      wanted.entries.pop_back();
      now.erase(part);
    }
  }
  // A pod that is over stays with its node, as one that is to end, until its document goes.
  for (const JobId id : cluster.kept_pods(session.node)) {
    const Job& job = cluster.jobs().at(id);
    want({.job = id, .attempt = job.run->attempt}, true, job.cause);
  }
  for (const auto& [part, end] : session.sent) {
    if (full || now.contains(part)) continue;
    wanted.gone.push_back({.job = part.job, .attempt = part.attempt, .step = part.step});
  }
  if (!full && wanted.entries.empty() && wanted.gone.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    session.sent = std::move(now);
    ++session.revision;
  }
  wanted.revision = Revision(session.revision);
  wanted.head = head();
  // Only with something to start, and not to an agent that has them still after our restart: ten thousand nodes times
  // ten thousand agents would be gigabytes.
  if (session.hosts != hosts_version_ && !wanted.entries.empty()) {
    if (session.hosts_known != hosts_digest_) wanted.hosts = hosts_;
    session.hosts = hosts_version_;
    session.hosts_known = 0;
  }
  send(session.socket, wanted);
}

// One entry a registration: ten thousand agents come back at once.
void Sessions::note_host(const Cluster& cluster, const Node& node) {
  const std::size_t known = hosts_.size();
  hosts_.resize(cluster.nodes().size());
  for (std::size_t i = known; i < hosts_.size(); ++i) {
    hosts_[i] = host_of(cluster.nodes()[i]);
    hosts_digest_ += digest_of(hosts_[i]);
  }
  HostAddress& host = hosts_.at(node.id.value() - 1);
  if (known == hosts_.size() && host == host_of(node)) return;
  hosts_digest_ -= digest_of(host);
  host = host_of(node);
  hosts_digest_ += digest_of(host);
  ++hosts_version_;
}

void Sessions::add_launch(const Cluster& cluster, const Job& job, Session& session, WantedEntry& entry) {
  for (const NodeShare& share : job.run->placement->shares) {
    if (share.node != session.node) continue;
    auto launch = make_launch(cluster, job, share, payloads_, options_.doors);
    if (!launch) {
      options_.say(fmt::format("job {}: {}", job.id.value(), launch.error().message));
      return;
    }
    if (launch->run && launch->script && session.scripts.insert(launch->script).second) {
      if (const auto body = payloads_.get(launch->script)) {
        send(session.socket, PayloadBody{.hash = launch->script, .bytes = **body});
      }
    }
    entry.launch = *std::move(launch);
    return;
  }
}

// False: there is nothing to tell the node; the core hears that this part of the step couldn't be started.
bool Sessions::add_step_launch(const Cluster& cluster, const Job& job, const Step& step, NodeId node,
                               WantedEntry& entry) {
  const auto share = std::ranges::find_if(step.shares, [&](const StepShare& s) { return s.share.node == node; });
  auto launch = make_step_launch(cluster, job, step, *share, payloads_, options_.doors);
  if (launch) {
    entry.step_launch = *std::move(launch);
    return true;
  }
  const std::string why = launch.error().message;
  options_.say(fmt::format("step {}.{}: {}", job.id.value(), step.number, why));
  const bool told = driver_.push({.input = ReportStepEnded{.node = node,
                                                           .job = job.id,
                                                           .attempt = job.run->attempt,
                                                           .step = step.number,
                                                           .cause = Cause::launch_failed,
                                                           .exit = {.code = 1},
                                                           .note = why}});
  if (!told) {  // the inbox is full: again at the next tick
    const std::lock_guard lock(mutex_);
    resend_.insert(node);
  }
  return false;
}

void Sessions::signal(const std::vector<engine::SendSignalOrder>& orders) {
  for (const engine::SendSignalOrder& order : orders) {
    SessionPtr session;
    {
      const std::lock_guard lock(mutex_);
      const auto found = by_node_.find(order.node);
      if (found == by_node_.end()) continue;
      session = found->second;
    }
    send(session->socket,
         SendSignal{.job = order.job, .attempt = order.attempt, .signal = order.signal, .target = order.target,
                    .step = order.step});
  }
}

void Sessions::tick(const Cluster& cluster) {
  std::vector<NodeId> silent;
  std::set<NodeId> resend;
  {
    const std::lock_guard lock(mutex_);
    resend.swap(resend_);
    const Duration now = since_boot();
    for (const Node& node : cluster.nodes()) {
      const Duration heard = heard_.try_emplace(node.id, now).first->second;
      const bool late = now - heard > cluster.config().settings.node_timeout;
      if (late && node.contact == Contact::up && silent_.insert(node.id).second) silent.push_back(node.id);
    }
  }
  for (const NodeId node : silent) {
    options_.say(fmt::format("node {} is silent", cluster.node(node).name()));
    drop(node);
    if (!driver_.push({.input = NodeSilent{node}})) {
      const std::lock_guard lock(mutex_);
      silent_.erase(node);  // again at the next tick
    }
  }
  for (const NodeId node : resend) {
    SessionPtr session;
    {
      const std::lock_guard lock(mutex_);
      const auto found = by_node_.find(node);
      if (found == by_node_.end()) continue;
      session = found->second;
    }
    send_wanted(cluster, *session, true);
  }
}

// A half-open session is cut, so that an agent that still lives comes back and registers anew.
void Sessions::drop(NodeId node) {
  const std::lock_guard lock(mutex_);
  const auto found = by_node_.find(node);
  if (found != by_node_.end()) found->second->socket->close();
}

std::map<NodeId, api::NodePulse> Sessions::pulses() const {
  const std::lock_guard lock(mutex_);
  return pulses_;
}

void Sessions::cut(const std::string& node) {
  const std::lock_guard lock(mutex_);
  const auto found = by_name_.find(node);
  if (found != by_name_.end() && found->second->socket->peer().certified)
    found->second->socket->close();
}

void Sessions::close() {
  std::map<wire::WsSession*, SessionPtr> open;
  {
    const std::lock_guard lock(mutex_);
    open.swap(sessions_);
    by_name_.clear();
    by_node_.clear();
  }
  for (const auto& [socket, session] : open) session->socket->close();
}

}  // namespace drover::control
