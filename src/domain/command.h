// Wishes: what people and programs ask of the cluster. Each may be refused.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/describe.h"
#include "domain/config.h"
#include "domain/document.h"
#include "domain/job.h"
#include "domain/node.h"
#include "domain/refusal.h"
#include "domain/request.h"
#include "domain/step.h"

namespace drover {

// Who asks, as the kernel (or a verified credential) says.
struct Caller {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::string user;
  std::string group;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "uid", self.uid);
    visit(2, "gid", self.gid);
    visit(3, "user", self.user);
    visit(4, "group", self.group);
  }
  friend bool operator==(const Caller&, const Caller&) = default;
};

struct Submit {
  static constexpr std::string_view kName = "submit";
  std::string name;
  std::string account;
  std::string qos;
  std::string partitions;  // "" the default one; "a,b": whichever starts it first
  Request request;
  PayloadHash spec;        // of the encoded JobSpec
  Instant begin;           // Instant{}: at once
  std::optional<Duration> limit;  // 0: no limit; none: the partition's default
  Duration min_limit{0};
  Instant deadline;
  std::optional<std::int64_t> priority;  // administrators only
  std::int32_t nice = 0;
  bool hold = false;
  bool requeue = true;
  std::optional<ArrayPending> array;
  Dependency dependency;
  std::optional<Caller> as;  // administrators only: on behalf of
  bool allocation = false;   // no script: it runs from its placement on, until EndAllocation or its limit
  std::optional<StepWish> first_step;  // of an allocation: placed in the same moment (srun alone)
  bool pod = false;          // of a PutDocument alone: containers, and it waits even where nothing could hold it
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "name", self.name);
    visit(2, "account", self.account);
    visit(3, "qos", self.qos);
    visit(4, "partitions", self.partitions);
    visit(5, "request", self.request);
    visit(6, "spec", self.spec);
    visit(7, "begin", self.begin);
    visit(8, "limit", self.limit);
    visit(9, "min_limit", self.min_limit);
    visit(10, "deadline", self.deadline);
    visit(11, "priority", self.priority);
    visit(12, "nice", self.nice);
    visit(13, "hold", self.hold);
    visit(14, "requeue", self.requeue);
    visit(15, "array", self.array);
    visit(16, "dependency", self.dependency);
    visit(17, "as", self.as);
    visit(18, "allocation", self.allocation);
    visit(19, "first_step", self.first_step);
    visit(20, "pod", self.pod);
  }
  friend bool operator==(const Submit&, const Submit&) = default;
};

// One job, one task of an array, or (tasks empty) a job with all its tasks.
struct JobRef {
  JobId job;
  std::vector<TaskRange> tasks;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "job", self.job);
    visit(2, "tasks", self.tasks);
  }
  friend bool operator==(const JobRef&, const JobRef&) = default;
};

// Which jobs a wish is for: those named, narrowed by every filter that isn't empty. With no job
// named and no filter at all, it selects nothing.
struct JobSelector {
  std::vector<JobRef> jobs;
  std::vector<std::string> users;
  std::vector<std::string> names;
  std::vector<std::string> partitions;
  std::vector<std::string> accounts;
  std::vector<std::string> qos;
  std::vector<std::string> nodes;
  std::vector<Phase> phases;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "jobs", self.jobs);
    visit(2, "users", self.users);
    visit(3, "names", self.names);
    visit(4, "partitions", self.partitions);
    visit(5, "accounts", self.accounts);
    visit(6, "qos", self.qos);
    visit(7, "nodes", self.nodes);
    visit(8, "phases", self.phases);
  }
  friend bool operator==(const JobSelector&, const JobSelector&) = default;
};

struct Cancel {
  static constexpr std::string_view kName = "cancel";
  JobSelector jobs;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) { visit(1, "jobs", self.jobs); }
  friend bool operator==(const Cancel&, const Cancel&) = default;
};

// Sends a signal to running jobs and changes nothing else.
struct Signal {
  static constexpr std::string_view kName = "signal";
  JobSelector jobs;
  std::uint32_t signal = 0;
  SignalTarget target = SignalTarget::steps;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "jobs", self.jobs);
    visit(2, "signal", self.signal);
    visit(3, "target", self.target);
  }
  friend bool operator==(const Signal&, const Signal&) = default;
};

struct SetHold {
  static constexpr std::string_view kName = "set_hold";
  JobSelector jobs;
  bool hold = true;
  bool as_user = false;  // scontrol uhold: the owner may release it
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "jobs", self.jobs);
    visit(2, "hold", self.hold);
    visit(3, "as_user", self.as_user);
  }
  friend bool operator==(const SetHold&, const SetHold&) = default;
};

struct Requeue {
  static constexpr std::string_view kName = "requeue";
  JobSelector jobs;
  bool hold = false;  // scontrol requeuehold
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "jobs", self.jobs);
    visit(2, "hold", self.hold);
  }
  friend bool operator==(const Requeue&, const Requeue&) = default;
};

// scontrol update JobId=...: every field that is set is changed, all or none.
struct ModifyJob {
  static constexpr std::string_view kName = "modify_job";
  JobSelector jobs;
  std::optional<std::string> name;
  std::optional<std::string> partitions;
  std::optional<std::string> account;
  std::optional<std::string> qos;
  std::optional<Duration> limit;
  std::optional<Duration> min_limit;
  std::optional<Instant> begin;
  std::optional<Instant> deadline;
  std::optional<std::int64_t> priority;
  std::optional<std::int32_t> nice;
  std::optional<bool> requeue;
  std::optional<std::uint32_t> throttle;
  std::optional<Dependency> dependency;
  std::optional<Request> request;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "jobs", self.jobs);
    visit(2, "name", self.name);
    visit(3, "partitions", self.partitions);
    visit(4, "account", self.account);
    visit(5, "qos", self.qos);
    visit(6, "limit", self.limit);
    visit(7, "min_limit", self.min_limit);
    visit(8, "begin", self.begin);
    visit(9, "deadline", self.deadline);
    visit(10, "priority", self.priority);
    visit(11, "nice", self.nice);
    visit(12, "requeue", self.requeue);
    visit(13, "throttle", self.throttle);
    visit(14, "dependency", self.dependency);
    visit(15, "request", self.request);
  }
  friend bool operator==(const ModifyJob&, const ModifyJob&) = default;
};

// A step in a running job. Refused with RefusalCode::step_busy when it would fit, were other steps over.
struct CreateStep {
  static constexpr std::string_view kName = "create_step";
  JobId job;
  StepWish step;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "job", self.job);
    visit(2, "step", self.step);
  }
  friend bool operator==(const CreateStep&, const CreateStep&) = default;
};
struct EndStep {  // scancel JOB.STEP
  static constexpr std::string_view kName = "end_step";
  JobId job;
  std::uint32_t step = 0;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "job", self.job);
    visit(2, "step", self.step);
  }
  friend bool operator==(const EndStep&, const EndStep&) = default;
};
struct SignalStep {
  static constexpr std::string_view kName = "signal_step";
  JobId job;
  std::uint32_t step = 0;
  std::uint32_t signal = 0;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "job", self.job);
    visit(2, "step", self.step);
    visit(3, "signal", self.signal);
  }
  friend bool operator==(const SignalStep&, const SignalStep&) = default;
};
// The client that a job was allocated for is done with it: the job ends with that exit status.
struct EndAllocation {
  static constexpr std::string_view kName = "end_allocation";
  JobId job;
  ExitStatus exit;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "job", self.job);
    visit(2, "exit", self.exit);
  }
  friend bool operator==(const EndAllocation&, const EndAllocation&) = default;
};

enum class NodeWish : std::uint8_t { drain, down, resume, confirm_dead };
[[nodiscard]] constexpr std::string_view word(NodeWish w) {
  switch (w) {
    case NodeWish::drain: return "drain";
    case NodeWish::down: return "down";
    case NodeWish::resume: return "resume";
    case NodeWish::confirm_dead: return "confirm_dead";  // an administrator's word: the node is fenced
  }
  return "";
}
struct UpdateNode {
  static constexpr std::string_view kName = "update_node";
  std::vector<std::string> nodes;
  NodeWish wish = NodeWish::drain;
  std::string reason;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "nodes", self.nodes);
    visit(2, "wish", self.wish);
    visit(3, "reason", self.reason);
  }
  friend bool operator==(const UpdateNode&, const UpdateNode&) = default;
};

struct UpdatePartition {
  static constexpr std::string_view kName = "update_partition";
  std::string name;
  bool up = true;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "name", self.name);
    visit(2, "up", self.up);
  }
  friend bool operator==(const UpdatePartition&, const UpdatePartition&) = default;
};

// Documents are administrators' wishes: a door, which knows what is in them, asks on behalf of its callers.
// A new one, or another body. With `job` (of a pod, when it is made) both come into being or neither.
struct PutDocument {
  static constexpr std::string_view kName = "put_document";
  DocumentKey key;
  PayloadHash body;
  std::optional<std::uint64_t> expect;  // version that is replaced; 0: it must be new; none: whatever is there
  std::optional<Submit> job;
  Labels labels;  // of a pod or a namespace
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "key", self.key);
    visit(2, "body", self.body);
    visit(3, "expect", self.expect);
    visit(4, "job", self.job);
    visit(5, "labels", self.labels);
  }
  friend bool operator==(const PutDocument&, const PutDocument&) = default;
};
// Refused while its job still holds something.
struct RemoveDocument {
  static constexpr std::string_view kName = "remove_document";
  DocumentKey key;
  std::optional<std::uint64_t> expect;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "key", self.key);
    visit(2, "expect", self.expect);
  }
  friend bool operator==(const RemoveDocument&, const RemoveDocument&) = default;
};
// Labels, annotations and taints as people want them, in whole.
struct MarkNode {
  static constexpr std::string_view kName = "mark_node";
  std::string node;
  NodeMarks marks;
  std::optional<std::uint64_t> expect;  // version of the node
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "node", self.node);
    visit(2, "marks", self.marks);
    visit(3, "expect", self.expect);
  }
  friend bool operator==(const MarkNode&, const MarkNode&) = default;
};

using Command = std::variant<Submit, Cancel, Signal, SetHold, Requeue, ModifyJob, UpdateNode, UpdatePartition,
                             CreateStep, EndStep, SignalStep, EndAllocation, PutDocument, RemoveDocument, MarkNode>;

// What the caller gets back. `refusals` are of single jobs of a selector; a wish that is refused as a
// whole answers with a Refusal instead.
struct JobRefusal {
  JobRef job;
  Refusal refusal;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "job", self.job);
    visit(2, "refusal", self.refusal);
  }
  friend bool operator==(const JobRefusal&, const JobRefusal&) = default;
};
struct Reply {
  JobId job;                  // Submit: the new job
  std::vector<JobId> jobs;    // those that the wish was done for
  std::vector<JobRefusal> refusals;
  std::optional<std::uint32_t> step;  // CreateStep: its number
  std::uint64_t version = 0;          // PutDocument, RemoveDocument, MarkNode: of the object after it
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "job", self.job);
    visit(2, "jobs", self.jobs);
    visit(3, "refusals", self.refusals);
    visit(4, "step", self.step);
    visit(5, "version", self.version);
  }
  friend bool operator==(const Reply&, const Reply&) = default;
};

}  // namespace drover
