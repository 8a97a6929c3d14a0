// The agents' sessions: one WebSocket a node. Level-triggered wanted sets go out, reports come in and
// are acknowledged once durable. What is sent comes from the follower's cluster alone.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/views.h"
#include "control/driver.h"
#include "control/launch.h"
#include "control/payloads.h"
#include "domain/session.h"
#include "store/log.h"
#include "wire/http_server.h"

namespace drover::control {

class Sessions {
 public:
  struct Options {
    std::string cluster_id;
    Epoch epoch;
    DoorLaunches doors;
    std::function<PodBody(NodeId, const NeedPod&)> pod;   // from what is durable
    std::function<void(NodeId, PodNotes)> note;
    std::function<void(const std::string&)> fail;  // this store must not lead: an agent has seen more of it
    std::function<void(const std::string&)> say;   // one line for the controller's own log
  };
  Sessions(Options options, Driver& driver, Payloads& payloads, store::Log& log);

  // A request on the agents' path. Over TLS the node of the certificate is the only one that the
  // session may speak for; on this machine only root, or the user that droverd runs as, may be an
  // agent.
  void accept(const wire::Request& request, wire::Responder responder);

  // From the follower's thread, with its cluster: sends what changed for these nodes.
  void sync(const Cluster& cluster, const std::vector<NodeId>& nodes);
  void signal(const std::vector<engine::SendSignalOrder>& orders);
  // Finds nodes that have been silent for too long.
  void tick(const Cluster& cluster);
  // A registration became a fact: welcomes the session and sends the whole wanted set.
  void welcome(const Cluster& cluster, const std::string& node);

  [[nodiscard]] std::map<NodeId, api::NodePulse> pulses() const;
  // Ends the session of that node, if it came over TLS: its certificate counts no more.
  void cut(const std::string& node);
  void close();

 private:
  struct Part {  // of an attempt: its script and share, or a step
    JobId job;
    std::uint32_t attempt = 0;
    std::uint32_t step = kBatchStep;
    friend auto operator<=>(const Part&, const Part&) = default;
  };
  struct Session {
    wire::WsSessionPtr socket;
    std::string name;
    NodeId node;              // once welcomed
    std::uint64_t revision = 0;
    std::map<Part, bool> sent;     // wanted so far; true: to end
    std::set<PayloadHash> scripts; // sent on this session
    std::uint64_t hosts = 0;       // version of the table of hosts that it has
    std::uint64_t hosts_known = 0; // the digest of the one that it came with
  };
  using SessionPtr = std::shared_ptr<Session>;

  bool on_message(const wire::WsSessionPtr& socket, const std::string& bytes);
  bool on(const wire::WsSessionPtr& socket, Hello hello);
  bool on(const wire::WsSessionPtr& socket, const Heartbeat& beat);
  bool on(const wire::WsSessionPtr& socket, const NeedPayload& need);
  bool on(const wire::WsSessionPtr& socket, Report report);
  bool on(const wire::WsSessionPtr& socket, const NeedPod& need);
  bool on(const wire::WsSessionPtr& socket, PodNotes notes);
  void on_close(const wire::WsSessionPtr& socket, const std::string& why);
  void send_wanted(const Cluster& cluster, Session& session, bool full);
  void add_launch(const Cluster& cluster, const Job& job, Session& session, WantedEntry& entry);
  bool add_step_launch(const Cluster& cluster, const Job& job, const Step& step, NodeId node, WantedEntry& entry);
  void note_host(const Cluster& cluster, const Node& node);
  void drop(NodeId node);
  void refuse(const wire::WsSessionPtr& socket, std::string reason);
  bool send(const wire::WsSessionPtr& socket, const ToAgent& message);
  [[nodiscard]] HeadSeen head() const;
  SessionPtr of(const wire::WsSessionPtr& socket);

  Options options_;
  Driver& driver_;
  Payloads& payloads_;
  store::Log& log_;

  mutable std::mutex mutex_;
  std::map<wire::WsSession*, SessionPtr> sessions_;
  std::map<std::string, SessionPtr> by_name_;
  std::map<NodeId, SessionPtr> by_node_;
  std::map<NodeId, Duration> heard_;   // since boot, of the last message; kept beyond the session
  std::map<NodeId, api::NodePulse> pulses_;
  std::set<NodeId> silent_;            // reported to the core, not heard again yet
  std::set<NodeId> resend_;            // digests differ: send in full at the next tick

  // Of the follower's thread alone: every node's address, told to an agent before its next launch.
  std::vector<HostAddress> hosts_;  // [i] of the node with id i + 1
  std::uint64_t hosts_version_ = 0;
  std::uint64_t hosts_digest_ = 0;  // digest_of() each, added up: what an agent says of those that it knows
};

}  // namespace drover::control
