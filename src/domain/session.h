// What a controller and an agent say to each other. The wanted set is level-triggered: in full at
// connect or when digests differ, else as a difference; absence from a set is never an order to
// kill: an end is an explicit entry. Reports are kept by the agent until acknowledged, which
// happens only after the commit.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/describe.h"
#include "domain/ids.h"
#include "domain/input.h"
#include "domain/job.h"
#include "domain/node.h"
#include "domain/pod.h"
#include "domain/step_launch.h"

namespace drover {

struct HeadSeen {
  std::uint64_t position = 0;
  PayloadHash hash;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "position", self.position);
    visit(2, "hash", self.hash);
  }
  friend bool operator==(const HeadSeen&, const HeadSeen&) = default;
};

// All that a node needs to start an attempt; nothing in it is looked up again later.
struct Launch {
  std::string user;  // shown only; the uid counts
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  PayloadHash script;
  std::vector<std::string> arguments;
  std::vector<std::string> environment;  // complete but for what only the node knows (HOME, devices)
  std::string work_dir;
  std::string stdin_path;   // patterns already expanded
  std::string stdout_path;
  std::string stderr_path;  // "" or equal to stdout_path: joined
  bool append_output = false;
  std::uint32_t umask = 022;
  std::map<std::string, std::int64_t> rlimits;
  CpuSet cpus;
  Bytes memory;
  std::vector<std::string> device_uuids;  // granted whole
  Duration limit{0};  // by the node's boot-time clock; 0: none
  Duration grace = seconds(30);
  WarnSignal warn;
  bool no_new_privs = true;
  bool run = true;    // false: this node only holds its share, the script runs on another
  bool pod = false;   // no script: the agent asks for a PodLaunch
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "user", self.user);
    visit(2, "uid", self.uid);
    visit(3, "gid", self.gid);
    visit(4, "script", self.script);
    visit(5, "arguments", self.arguments);
    visit(6, "environment", self.environment);
    visit(7, "work_dir", self.work_dir);
    visit(8, "stdin_path", self.stdin_path);
    visit(9, "stdout_path", self.stdout_path);
    visit(10, "stderr_path", self.stderr_path);
    visit(11, "append_output", self.append_output);
    visit(12, "umask", self.umask);
    visit(13, "rlimits", self.rlimits);
    visit(14, "cpus", self.cpus);
    visit(15, "memory", self.memory);
    visit(16, "device_uuids", self.device_uuids);
    visit(17, "limit", self.limit);
    visit(18, "grace", self.grace);
    visit(19, "warn", self.warn);
    visit(20, "no_new_privs", self.no_new_privs);
    visit(21, "run", self.run);
    visit(22, "pod", self.pod);
  }
  friend bool operator==(const Launch&, const Launch&) = default;
};

// One attempt, or one step of it, that the controller wants something of. Without `end` it is to run
// (or go on). The end of an attempt ends its steps on that node too.
struct WantedEntry {
  JobId job;
  std::uint32_t attempt = 0;
  std::optional<Launch> launch;  // absent in a difference when only the end changes
  bool end = false;
  Cause end_cause = Cause::cancelled;
  Duration grace = seconds(30);  // between SIGTERM and SIGKILL at an end
  std::uint32_t step = kBatchStep;          // the batch script, and the node's hold on its share
  std::optional<StepLaunch> step_launch;    // of a step, in place of `launch`
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "job", self.job);
    visit(2, "attempt", self.attempt);
    visit(3, "launch", self.launch);
    visit(4, "end", self.end);
    visit(5, "end_cause", self.end_cause);
    visit(6, "grace", self.grace);
    visit(7, "step", self.step);
    visit(8, "step_launch", self.step_launch);
  }
  friend bool operator==(const WantedEntry&, const WantedEntry&) = default;
};

// ---- controller -> agent ----

struct Welcome {
  std::string cluster_id;  // random, of the store: an agent refuses another cluster's
  Epoch epoch;
  NodeId node;
  Duration heartbeat = seconds(5);
  HeadSeen head;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "cluster_id", self.cluster_id);
    visit(2, "epoch", self.epoch);
    visit(3, "node", self.node);
    visit(4, "heartbeat", self.heartbeat);
    visit(5, "head", self.head);
  }
};
struct HostAddress {
  std::string name;     // of a node
  std::string address;  // as other nodes reach it
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "name", self.name);
    visit(2, "address", self.address);
  }
  friend bool operator==(const HostAddress&, const HostAddress&) = default;
};
struct Wanted {
  Epoch epoch;
  Revision revision;
  bool full = false;
  std::vector<WantedEntry> entries;
  std::vector<HeldAttempt> gone;  // in a difference: confirmed ended, the agent may forget them
  HeadSeen head;
  std::vector<HostAddress> hosts;  // all nodes of the cluster; empty: as told before
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "epoch", self.epoch);
    visit(2, "revision", self.revision);
    visit(3, "full", self.full);
    visit(4, "entries", self.entries);
    visit(5, "gone", self.gone);
    visit(6, "head", self.head);
    visit(7, "hosts", self.hosts);
  }
};
struct SendSignal {  // at most once, best effort: as kill(2) is
  JobId job;
  std::uint32_t attempt = 0;
  std::uint32_t signal = 0;
  SignalTarget target = SignalTarget::steps;
  std::uint32_t step = kBatchStep;  // another: that step alone, whatever the target
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "job", self.job);
    visit(2, "attempt", self.attempt);
    visit(3, "signal", self.signal);
    visit(4, "target", self.target);
    visit(5, "step", self.step);
  }
};
struct PayloadBody {
  PayloadHash hash;
  std::string bytes;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "hash", self.hash);
    visit(2, "bytes", self.bytes);
  }
};
struct ReportsStored {  // all reports up to `through` are durable
  std::uint64_t through = 0;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) { visit(1, "through", self.through); }
};
struct Refuse {  // and close: wrong cluster, name taken, store behind
  std::string reason;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) { visit(1, "reason", self.reason); }
};
struct PodBody {  // the answer to NeedPod
  JobId job;
  std::uint32_t attempt = 0;
  std::optional<PodLaunch> launch;
  std::string error;  // why there is none: it is over, or isn't this node's
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "job", self.job);
    visit(2, "attempt", self.attempt);
    visit(3, "launch", self.launch);
    visit(4, "error", self.error);
  }
};
using ToAgent = std::variant<Welcome, Wanted, SendSignal, PayloadBody, ReportsStored, Refuse, PodBody>;

// ---- agent -> controller ----

struct Hello {
  std::uint32_t protocol = 1;
  std::string cluster_id;  // "" when it has never been welcomed
  Epoch epoch;             // the highest it has seen
  HeadSeen head;           // the highest it has seen in that epoch
  NodeInventory inventory;
  std::vector<HeldAttempt> held;
  std::uint64_t hosts = 0;  // digest_of() all of the hosts that it was told of, added up; they needn't be told again
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "protocol", self.protocol);
    visit(2, "cluster_id", self.cluster_id);
    visit(3, "epoch", self.epoch);
    visit(4, "head", self.head);
    visit(5, "inventory", self.inventory);
    visit(6, "held", self.held);
    visit(7, "hosts", self.hosts);
  }
};
struct Heartbeat {
  Revision revision;        // of the wanted set it holds
  std::uint64_t digest = 0; // of its entries (domain/session.h: digest)
  std::uint32_t load_centi = 0;  // 1-minute load x 100
  Bytes memory_free;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "revision", self.revision);
    visit(2, "digest", self.digest);
    visit(3, "load_centi", self.load_centi);
    visit(4, "memory_free", self.memory_free);
  }
};
struct NeedPayload {
  PayloadHash hash;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) { visit(1, "hash", self.hash); }
};
struct NeedPod {  // a pod that was placed here, or of which a container couldn't be made last time
  JobId job;
  std::uint32_t attempt = 0;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "job", self.job);
    visit(2, "attempt", self.attempt);
  }
};
struct PodNotes {  // for people; at most once, kept nowhere
  JobId job;
  std::uint32_t attempt = 0;
  std::vector<PodNote> notes;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "job", self.job);
    visit(2, "attempt", self.attempt);
    visit(3, "notes", self.notes);
  }
};
using ReportBody = std::variant<ReportStarted, ReportEnded, ReportStepEnded, ReportPod>;
struct Report {
  std::uint64_t sequence = 0;  // of this agent, rising; survives its restart
  ReportBody body;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "sequence", self.sequence);
    visit(2, "body", self.body);
  }
};
using FromAgent = std::variant<Hello, Heartbeat, NeedPayload, Report, NeedPod, PodNotes>;

// Order-free digest of a wanted set: which attempts are to run and which are to end.
[[nodiscard]] std::uint64_t digest_of(JobId job, std::uint32_t attempt, std::uint32_t step, bool end);
// Added up over a table of hosts, in whatever order.
[[nodiscard]] std::uint64_t digest_of(const HostAddress& host);

}  // namespace drover
