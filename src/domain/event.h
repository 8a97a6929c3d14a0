// Facts. Once stored they never change, and applying one never fails: all doubt was resolved before.
// A fact is complete: it names devices, CPUs and bytes. Alternatives are only ever appended.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/describe.h"
#include "domain/command.h"
#include "domain/config.h"
#include "domain/event_documents.h"
#include "domain/job.h"
#include "domain/node.h"
#include "domain/placement.h"
#include "domain/request.h"
#include "domain/step.h"

namespace drover {

struct Configured {
  static constexpr std::string_view kName = "configured";
  Config config;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) { visit(1, "config", self.config); }
  friend bool operator==(const Configured&, const Configured&) = default;
};

// The first or a later registration of a node. `devices[i]` is the id of inventory.devices[i].
struct NodeRegistered {
  static constexpr std::string_view kName = "node_registered";
  NodeId node;
  NodeInventory inventory;
  std::vector<DeviceId> devices;
  Instant at;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "node", self.node);
    visit(2, "inventory", self.inventory);
    visit(3, "devices", self.devices);
    visit(4, "at", self.at);
  }
  friend bool operator==(const NodeRegistered&, const NodeRegistered&) = default;
};

struct NodeContactChanged {
  static constexpr std::string_view kName = "node_contact_changed";
  NodeId node;
  Contact contact = Contact::up;
  Instant at;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "node", self.node);
    visit(2, "contact", self.contact);
    visit(3, "at", self.at);
  }
  friend bool operator==(const NodeContactChanged&, const NodeContactChanged&) = default;
};

// Drained (with the reason) or resumed (without).
struct NodeDrainChanged {
  static constexpr std::string_view kName = "node_drain_changed";
  NodeId node;
  std::optional<Drain> drain;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "node", self.node);
    visit(2, "drain", self.drain);
  }
  friend bool operator==(const NodeDrainChanged&, const NodeDrainChanged&) = default;
};

struct JobSubmitted {
  static constexpr std::string_view kName = "job_submitted";
  JobId job;
  Caller owner;
  Submit submit;        // as accepted: partitions and limit filled in, request normal
  std::int64_t priority = 0;
  Instant at;
  std::string key;      // idempotency key of the client, "" none
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "job", self.job);
    visit(2, "owner", self.owner);
    visit(3, "submit", self.submit);
    visit(4, "priority", self.priority);
    visit(5, "at", self.at);
    visit(6, "key", self.key);
  }
  friend bool operator==(const JobSubmitted&, const JobSubmitted&) = default;
};

// One task of an array gets a record of its own. `job` == `array`: the last one keeps the array's id.
struct ArrayTaskSplit {
  static constexpr std::string_view kName = "array_task_split";
  JobId array;
  std::uint32_t task = 0;
  JobId job;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "array", self.array);
    visit(2, "task", self.task);
    visit(3, "job", self.job);
  }
  friend bool operator==(const ArrayTaskSplit&, const ArrayTaskSplit&) = default;
};

struct JobPlaced {
  static constexpr std::string_view kName = "job_placed";
  JobId job;
  std::uint32_t attempt = 1;
  std::string partition;
  Placement placement;
  Duration limit{0};  // of this attempt
  Instant at;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "job", self.job);
    visit(2, "attempt", self.attempt);
    visit(3, "partition", self.partition);
    visit(4, "placement", self.placement);
    visit(5, "limit", self.limit);
    visit(6, "at", self.at);
  }
  friend bool operator==(const JobPlaced&, const JobPlaced&) = default;
};

// A hard reservation: the first K jobs that can't start now know when and where they will. Logged as
// differences; no nodes: the reservation is dropped.
struct JobReserved {
  static constexpr std::string_view kName = "job_reserved";
  JobId job;
  Instant start;
  Placement placement;
  std::string partition;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "job", self.job);
    visit(2, "start", self.start);
    visit(3, "placement", self.placement);
    visit(4, "partition", self.partition);
  }
  friend bool operator==(const JobReserved&, const JobReserved&) = default;
};

struct JobStarted {
  static constexpr std::string_view kName = "job_started";
  JobId job;
  std::uint32_t attempt = 1;
  Instant at;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "job", self.job);
    visit(2, "attempt", self.attempt);
    visit(3, "at", self.at);
  }
  friend bool operator==(const JobStarted&, const JobStarted&) = default;
};

// An end was ordered; the job keeps what it holds until its node says that nothing is left.
struct JobEnding {
  static constexpr std::string_view kName = "job_ending";
  JobId job;
  Cause cause = Cause::cancelled;
  std::uint32_t by = 0;  // uid
  Hold then_hold = Hold::none;  // requeued: held afterwards
  Instant at;
  ExitStatus exit;              // of an allocation, as its client says
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "job", self.job);
    visit(2, "cause", self.cause);
    visit(3, "by", self.by);
    visit(4, "then_hold", self.then_hold);
    visit(5, "at", self.at);
    visit(6, "exit", self.exit);
  }
  friend bool operator==(const JobEnding&, const JobEnding&) = default;
};

// The attempt is over and holds nothing any more. For a waiting job: cancelled before it started.
struct JobEnded {
  static constexpr std::string_view kName = "job_ended";
  JobId job;
  std::uint32_t attempt = 0;  // 0: it never started
  Cause cause = Cause::completed;
  ExitStatus exit;
  Usage usage;
  Instant at;
  std::uint32_t by = 0;  // uid, when cancelled
  std::string note;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "job", self.job);
    visit(2, "attempt", self.attempt);
    visit(3, "cause", self.cause);
    visit(4, "exit", self.exit);
    visit(5, "usage", self.usage);
    visit(6, "at", self.at);
    visit(7, "by", self.by);
    visit(8, "note", self.note);
  }
  friend bool operator==(const JobEnded&, const JobEnded&) = default;
};

// Back in the queue, under the same id. Follows a JobEnded.
struct JobRequeued {
  static constexpr std::string_view kName = "job_requeued";
  JobId job;
  Instant begin;  // not before
  Hold hold = Hold::none;
  bool launch_failed = false;  // counts towards launch_failures instead of restarts
  Instant at;
  NodeId avoid;                // where the launch failed: not there again before it has started once
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "job", self.job);
    visit(2, "begin", self.begin);
    visit(3, "hold", self.hold);
    visit(4, "launch_failed", self.launch_failed);
    visit(5, "at", self.at);
    visit(6, "avoid", self.avoid);
  }
  friend bool operator==(const JobRequeued&, const JobRequeued&) = default;
};

struct JobHoldChanged {
  static constexpr std::string_view kName = "job_hold_changed";
  JobId job;
  Hold hold = Hold::none;
  std::int64_t priority = 0;  // after the change
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "job", self.job);
    visit(2, "hold", self.hold);
    visit(3, "priority", self.priority);
  }
  friend bool operator==(const JobHoldChanged&, const JobHoldChanged&) = default;
};

// Each field that is set replaces the job's.
struct JobModified {
  static constexpr std::string_view kName = "job_modified";
  JobId job;
  std::optional<std::string> name;
  std::optional<std::string> partitions;
  std::optional<std::string> account;
  std::optional<std::string> qos;
  std::optional<Duration> limit;
  std::optional<Duration> min_limit;
  std::optional<Instant> begin;
  std::optional<Instant> deadline;
  std::optional<std::int64_t> priority;
  bool priority_set = false;
  std::optional<std::int32_t> nice;
  std::optional<bool> requeue;
  std::optional<std::uint32_t> throttle;
  std::optional<Request> request;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "job", self.job);
    visit(2, "name", self.name);
    visit(3, "partitions", self.partitions);
    visit(4, "account", self.account);
    visit(5, "qos", self.qos);
    visit(6, "limit", self.limit);
    visit(7, "min_limit", self.min_limit);
    visit(8, "begin", self.begin);
    visit(9, "deadline", self.deadline);
    visit(10, "priority", self.priority);
    visit(11, "priority_set", self.priority_set);
    visit(12, "nice", self.nice);
    visit(13, "requeue", self.requeue);
    visit(14, "throttle", self.throttle);
    visit(15, "request", self.request);
  }
  friend bool operator==(const JobModified&, const JobModified&) = default;
};

// What is left of a job's dependency after something it waited for has happened. No terms: met.
struct DependencyChanged {
  static constexpr std::string_view kName = "dependency_changed";
  JobId job;
  Dependency left;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "job", self.job);
    visit(2, "left", self.left);
  }
  friend bool operator==(const DependencyChanged&, const DependencyChanged&) = default;
};

// Nothing but resources keeps the job any more, from here its age counts.
struct JobEligible {
  static constexpr std::string_view kName = "job_eligible";
  JobId job;
  Instant at;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "job", self.job);
    visit(2, "at", self.at);
  }
  friend bool operator==(const JobEligible&, const JobEligible&) = default;
};

// Why jobs wait: the differences that one slice of a pass found.
struct JobReason {
  JobId job;
  Reason reason = Reason::none;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "job", self.job);
    visit(2, "reason", self.reason);
  }
  friend bool operator==(const JobReason&, const JobReason&) = default;
};
struct ReasonsNoted {
  static constexpr std::string_view kName = "reasons_noted";
  std::vector<JobReason> reasons;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) { visit(1, "reasons", self.reasons); }
  friend bool operator==(const ReasonsNoted&, const ReasonsNoted&) = default;
};

// Ended long enough ago (Settings::min_job_age): the accounts still know them.
struct JobsForgotten {
  static constexpr std::string_view kName = "jobs_forgotten";
  std::vector<JobId> jobs;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) { visit(1, "jobs", self.jobs); }
  friend bool operator==(const JobsForgotten&, const JobsForgotten&) = default;
};

// The leader's wall clock jumped. Cluster time goes on from where it was; nothing fires because of it.
struct ClockJumped {
  static constexpr std::string_view kName = "clock_jumped";
  Duration by{0};
  Instant at;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "by", self.by);
    visit(2, "at", self.at);
  }
  friend bool operator==(const ClockJumped&, const ClockJumped&) = default;
};

struct PartitionChanged {
  static constexpr std::string_view kName = "partition_changed";
  std::string name;
  bool up = true;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "name", self.name);
    visit(2, "up", self.up);
  }
  friend bool operator==(const PartitionChanged&, const PartitionChanged&) = default;
};

// One node has reported the end of its part of an attempt while another node still holds a part, or
// while something on the node could not be killed (`released` is false then: it stays granted).
// The first report says how the attempt ended.
struct ShareEnded {
  static constexpr std::string_view kName = "share_ended";
  JobId job;
  std::uint32_t attempt = 1;
  NodeId node;
  bool released = true;
  Cause cause = Cause::completed;
  ExitStatus exit;
  Usage usage;
  std::string note;
  Instant at;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "job", self.job);
    visit(2, "attempt", self.attempt);
    visit(3, "node", self.node);
    visit(4, "released", self.released);
    visit(5, "cause", self.cause);
    visit(6, "exit", self.exit);
    visit(7, "usage", self.usage);
    visit(8, "note", self.note);
    visit(9, "at", self.at);
  }
  friend bool operator==(const ShareEnded&, const ShareEnded&) = default;
};

// A step runs on a part of what its job holds: complete down to device, CPU, byte and task.
struct StepPlaced {
  static constexpr std::string_view kName = "step_placed";
  JobId job;
  std::uint32_t attempt = 1;
  Step step;
  std::string key;  // idempotency key of the client, "" none
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "job", self.job);
    visit(2, "attempt", self.attempt);
    visit(3, "step", self.step);
    visit(4, "key", self.key);
  }
  friend bool operator==(const StepPlaced&, const StepPlaced&) = default;
};

// The end of a step was ordered, apart from its job's.
struct StepEnding {
  static constexpr std::string_view kName = "step_ending";
  JobId job;
  std::uint32_t attempt = 1;
  std::uint32_t step = 0;
  Cause cause = Cause::cancelled;
  std::uint32_t by = 0;  // uid
  Instant at;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "job", self.job);
    visit(2, "attempt", self.attempt);
    visit(3, "step", self.step);
    visit(4, "cause", self.cause);
    visit(5, "by", self.by);
    visit(6, "at", self.at);
  }
  friend bool operator==(const StepEnding&, const StepEnding&) = default;
};

// One node's part of a step is over, while tasks of it may run on another.
struct StepShareEnded {
  static constexpr std::string_view kName = "step_share_ended";
  JobId job;
  std::uint32_t attempt = 1;
  std::uint32_t step = 0;
  NodeId node;
  Cause cause = Cause::completed;
  ExitStatus exit;
  Usage usage;
  std::string note;
  Instant at;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "job", self.job);
    visit(2, "attempt", self.attempt);
    visit(3, "step", self.step);
    visit(4, "node", self.node);
    visit(5, "cause", self.cause);
    visit(6, "exit", self.exit);
    visit(7, "usage", self.usage);
    visit(8, "note", self.note);
    visit(9, "at", self.at);
  }
  friend bool operator==(const StepShareEnded&, const StepShareEnded&) = default;
};

// The last part of a step is over: what it came to, over all its nodes.
struct StepEnded {
  static constexpr std::string_view kName = "step_ended";
  JobId job;
  std::uint32_t attempt = 1;
  std::uint32_t step = 0;
  Cause cause = Cause::completed;
  ExitStatus exit;
  Usage usage;
  std::string note;
  Instant at;
  std::uint32_t by = 0;  // uid, when cancelled
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "job", self.job);
    visit(2, "attempt", self.attempt);
    visit(3, "step", self.step);
    visit(4, "cause", self.cause);
    visit(5, "exit", self.exit);
    visit(6, "usage", self.usage);
    visit(7, "note", self.note);
    visit(8, "at", self.at);
    visit(9, "by", self.by);
  }
  friend bool operator==(const StepEnded&, const StepEnded&) = default;
};

using Event = std::variant<Configured, NodeRegistered, NodeContactChanged, NodeDrainChanged, JobSubmitted,
                           ArrayTaskSplit, JobPlaced, JobReserved, JobStarted, JobEnding, JobEnded,
                           JobRequeued, JobHoldChanged, JobModified, DependencyChanged, JobEligible,
                           ReasonsNoted, JobsForgotten, ClockJumped, PartitionChanged,
                           ShareEnded, StepPlaced, StepEnding, StepShareEnded, StepEnded,
                           DocumentStored, DocumentRemoved, NodeMarked, PodReported>;

}  // namespace drover
