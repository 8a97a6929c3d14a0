// What readers see: flat values made from a durable Cluster. Doors put them into their own words.
// Every field has a number (describe), so that a list carries only the fields that were asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/describe.h"
#include "domain/cluster.h"

namespace drover::api {

// Which of a view's numbered fields are wanted; empty means all.
class Fields {
 public:
  Fields() = default;
  explicit Fields(const std::vector<std::uint32_t>& numbers) : all_(numbers.empty()) {
    for (const std::uint32_t n : numbers) {
      if (n < 64) bits_ |= std::uint64_t{1} << n;
    }
  }
  [[nodiscard]] bool has(std::uint32_t number) const { return all_ || ((bits_ >> number) & 1U) != 0; }

 private:
  bool all_ = true;
  std::uint64_t bits_ = 0;
};

struct ShareView {
  std::string node;
  std::uint32_t tasks = 1;
  std::string cpus;  // "0-3,8"
  std::uint32_t cpu_count = 0;
  Bytes memory;
  std::vector<std::uint32_t> gpu_indexes;  // host numbers
  std::vector<GpuAsk> gpus;                // by model
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "node", self.node);
    visit(2, "tasks", self.tasks);
    visit(3, "cpus", self.cpus);
    visit(4, "cpu_count", self.cpu_count);
    visit(5, "memory", self.memory);
    visit(6, "gpu_indexes", self.gpu_indexes);
    visit(7, "gpus", self.gpus);
  }
  friend bool operator==(const ShareView&, const ShareView&) = default;
};

struct JobView {
  JobId id;
  JobId array;
  std::uint32_t task = kNoTask;
  std::optional<ArrayPending> pending;
  std::string name;
  std::string user;
  std::uint32_t uid = 0;
  std::string group;
  std::uint32_t gid = 0;
  std::string account;
  std::string qos;
  std::string partitions;  // as asked
  std::string partition;   // where it is, or the first asked
  Phase phase = Phase::waiting;
  Cause cause = Cause::none;
  Hold hold = Hold::none;
  Reason reason = Reason::none;
  std::string note;
  std::int64_t priority = 0;
  std::int32_t nice = 0;
  Instant submitted;
  Instant begin;
  Instant eligible;
  Instant started;
  Instant ended;
  Duration limit{0};
  Duration min_limit{0};
  Instant deadline;
  std::uint32_t attempt = 0;
  std::uint32_t restarts = 0;
  bool requeue = true;
  bool node_lost = false;
  std::uint32_t cancelled_by = 0;
  ExitStatus exit;
  Request request;
  std::optional<Dependency> dependency;
  std::vector<std::string> nodes;   // of the placement, in node order
  std::vector<ShareView> shares;    // the same in detail
  Instant expected_start;           // of its hard reservation; Instant{}: none
  std::vector<std::string> expected_nodes;
  std::optional<JobSpec> spec;      // read from disk: only when asked for
  PayloadHash spec_hash;
  std::uint32_t cpu_count = 0;      // granted over all nodes, or what the request comes to at least
  std::uint32_t node_count = 0;
  std::uint32_t task_count = 0;
  Bytes memory;                     // granted over all nodes; 0 while waiting
  std::vector<GpuAsk> gpus;         // granted, by model
  bool allocation = false;          // no script
  ExitStatus highest_exit;          // of its steps that are over
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "id", self.id);
    visit(2, "array", self.array);
    visit(3, "task", self.task);
    visit(4, "pending", self.pending);
    visit(5, "name", self.name);
    visit(6, "user", self.user);
    visit(7, "uid", self.uid);
    visit(8, "group", self.group);
    visit(9, "gid", self.gid);
    visit(10, "account", self.account);
    visit(11, "qos", self.qos);
    visit(12, "partitions", self.partitions);
    visit(13, "partition", self.partition);
    visit(14, "phase", self.phase);
    visit(15, "cause", self.cause);
    visit(16, "hold", self.hold);
    visit(17, "reason", self.reason);
    visit(18, "note", self.note);
    visit(19, "priority", self.priority);
    visit(20, "nice", self.nice);
    visit(21, "submitted", self.submitted);
    visit(22, "begin", self.begin);
    visit(23, "eligible", self.eligible);
    visit(24, "started", self.started);
    visit(25, "ended", self.ended);
    visit(26, "limit", self.limit);
    visit(27, "min_limit", self.min_limit);
    visit(28, "deadline", self.deadline);
    visit(29, "attempt", self.attempt);
    visit(30, "restarts", self.restarts);
    visit(31, "requeue", self.requeue);
    visit(32, "node_lost", self.node_lost);
    visit(33, "cancelled_by", self.cancelled_by);
    visit(34, "exit", self.exit);
    visit(35, "request", self.request);
    visit(36, "dependency", self.dependency);
    visit(37, "nodes", self.nodes);
    visit(38, "shares", self.shares);
    visit(39, "expected_start", self.expected_start);
    visit(40, "expected_nodes", self.expected_nodes);
    visit(41, "spec", self.spec);
    visit(42, "spec_hash", self.spec_hash);
    visit(43, "cpu_count", self.cpu_count);
    visit(44, "node_count", self.node_count);
    visit(45, "task_count", self.task_count);
    visit(46, "memory", self.memory);
    visit(47, "gpus", self.gpus);
    visit(48, "allocation", self.allocation);
    visit(49, "highest_exit", self.highest_exit);
  }
};

// The numbers of all its fields, the spec too, which a list holds only when it is asked for.
[[nodiscard]] const std::vector<std::uint32_t>& job_view_fields();

// One node's part of a step, and where its stream is.
struct StepShareView {
  ShareView share;
  std::vector<TaskRange> tasks;
  bool over = false;
  std::string address;  // of the node
  std::string stream_path;
  std::string stream_address;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "share", self.share);
    visit(2, "tasks", self.tasks);
    visit(3, "over", self.over);
    visit(4, "address", self.address);
    visit(5, "stream_path", self.stream_path);
    visit(6, "stream_address", self.stream_address);
  }
};

// Never with its ticket.
struct StepView {
  JobId job;
  JobId array;
  std::uint32_t task = kNoTask;  // of the array
  std::uint32_t number = 0;
  std::uint32_t attempt = 0;
  std::string name;
  std::string user;
  std::uint32_t uid = 0;
  std::string account;
  std::string partition;
  StepPhase phase = StepPhase::running;
  Cause cause = Cause::none;
  ExitStatus exit;
  Usage usage;
  std::string note;
  Instant started;
  Instant ended;
  Duration limit{0};
  StepRequest request;
  std::uint32_t task_count = 0;
  std::uint32_t cpu_count = 0;
  std::vector<StepShareView> shares;
  PayloadHash spec_hash;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "job", self.job);
    visit(2, "array", self.array);
    visit(3, "task", self.task);
    visit(4, "number", self.number);
    visit(5, "attempt", self.attempt);
    visit(6, "name", self.name);
    visit(7, "user", self.user);
    visit(8, "uid", self.uid);
    visit(9, "account", self.account);
    visit(10, "partition", self.partition);
    visit(11, "phase", self.phase);
    visit(12, "cause", self.cause);
    visit(13, "exit", self.exit);
    visit(14, "usage", self.usage);
    visit(15, "note", self.note);
    visit(16, "started", self.started);
    visit(17, "ended", self.ended);
    visit(18, "limit", self.limit);
    visit(19, "request", self.request);
    visit(20, "task_count", self.task_count);
    visit(21, "cpu_count", self.cpu_count);
    visit(22, "shares", self.shares);
    visit(23, "spec_hash", self.spec_hash);
  }
};

struct NodeView {
  Node node;  // its granted part is in the fields below
  std::uint32_t cpus_used = 0;
  std::string cpus_used_list;
  Bytes memory_used;
  std::vector<JobId> jobs;
  bool exclusive = false;
  bool planned = false;  // part of a hard reservation
  std::vector<std::string> partitions;
  std::uint32_t load_centi = 0;  // x 100; from the last heartbeat
  Bytes memory_free;             // of the machine; from the last heartbeat
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "node", self.node);
    visit(2, "cpus_used", self.cpus_used);
    visit(3, "cpus_used_list", self.cpus_used_list);
    visit(4, "memory_used", self.memory_used);
    visit(5, "jobs", self.jobs);
    visit(6, "exclusive", self.exclusive);
    visit(7, "planned", self.planned);
    visit(8, "partitions", self.partitions);
    visit(9, "load_centi", self.load_centi);
    visit(10, "memory_free", self.memory_free);
  }
};

struct PartitionView {
  Partition partition;
  std::vector<std::string> nodes;  // those that have registered
  std::uint32_t cpus = 0;
  Bytes memory;
  std::vector<GpuAsk> gpus;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "partition", self.partition);
    visit(2, "nodes", self.nodes);
    visit(3, "cpus", self.cpus);
    visit(4, "memory", self.memory);
    visit(5, "gpus", self.gpus);
  }
};

// What a node's last heartbeat said. Ephemeral: never in the core, never in the log.
struct NodePulse {
  std::uint32_t load_centi = 0;
  Bytes memory_free;
};

[[nodiscard]] JobView job_view(const Cluster& cluster, const Job& job, const Fields& fields);
// While its job is active.
[[nodiscard]] StepView step_view(const Cluster& cluster, const Job& job, const Step& step);
[[nodiscard]] NodeView node_view(const Cluster& cluster, const Node& node, const NodePulse& pulse);
[[nodiscard]] PartitionView partition_view(const Cluster& cluster, const Partition& partition);
[[nodiscard]] bool in_partition(const Partition& partition, const std::string& node);

}  // namespace drover::api
