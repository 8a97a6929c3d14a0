// The words of a job's life. Doors map each of these with a switch that has no default, so a new
// word doesn't compile until every door has one for it.
#pragma once

#include <cstdint>
#include <string_view>

namespace drover {

enum class Phase : std::uint8_t {
  waiting,  // in the queue, or held, or not yet eligible
  placed,   // resources granted, the agent has not confirmed the start
  running,  // the agent has started it
  ending,   // an end was ordered, or the program has ended and the node is clearing up
  ended,    // final, until it is requeued by an administrator
};
[[nodiscard]] constexpr std::string_view word(Phase p) {
  switch (p) {
    case Phase::waiting: return "waiting";
    case Phase::placed: return "placed";
    case Phase::running: return "running";
    case Phase::ending: return "ending";
    case Phase::ended: return "ended";
  }
  return "";
}

// How an attempt came to its end.
enum class Cause : std::uint8_t {
  none,            // it has not
  completed,       // exit code 0
  failed,          // another exit code, or a signal
  cancelled,       // somebody's wish
  time_limit,
  out_of_memory,
  node_failed,     // the node came back without it, was fenced, or its lease ran out
  preempted,
  launch_failed,   // the node's fault (no cgroup, no fork): it starts elsewhere. A user's bad path is `failed`
  deadline,
  requeued,        // somebody's wish, the job goes on
  unknown,         // its shim was killed: the exit status is not invented
};
[[nodiscard]] constexpr std::string_view word(Cause c) {
  switch (c) {
    case Cause::none: return "none";
    case Cause::completed: return "completed";
    case Cause::failed: return "failed";
    case Cause::cancelled: return "cancelled";
    case Cause::time_limit: return "time_limit";
    case Cause::out_of_memory: return "out_of_memory";
    case Cause::node_failed: return "node_failed";
    case Cause::preempted: return "preempted";
    case Cause::launch_failed: return "launch_failed";
    case Cause::deadline: return "deadline";
    case Cause::requeued: return "requeued";
    case Cause::unknown: return "unknown";
  }
  return "";
}

enum class Hold : std::uint8_t { none, user, admin, requeued };
[[nodiscard]] constexpr std::string_view word(Hold h) {
  switch (h) {
    case Hold::none: return "none";
    case Hold::user: return "user";
    case Hold::admin: return "admin";
    case Hold::requeued: return "requeued";  // by requeuehold, or by repeated launch failures
  }
  return "";
}

// Why a job waits, in one word. The amounts behind it are computed on demand (engine/explain.h).
enum class Reason : std::uint8_t {
  none,                  // not looked at yet, or not waiting
  priority,              // would fit, but others are before it
  resources,             // the first in line; what it needs is busy
  held_by_user,
  held_by_admin,
  requeued_held,
  begin_time,
  dependency,
  dependency_never,
  array_limit,           // --array=...%N
  node_not_available,    // a node it names is down, drained or lost
  nodes_down,            // enough nodes exist, but too few are open
  partition_down,
  partition_time_limit,
  partition_node_limit,
  bad_constraints,       // no node of the cluster can ever satisfy it, as it stands now
  launch_failed_held,
  deadline,
  other_pods,            // what it says of other pods holds on too few nodes
};
[[nodiscard]] constexpr std::string_view word(Reason r) {
  switch (r) {
    case Reason::none: return "none";
    case Reason::priority: return "priority";
    case Reason::resources: return "resources";
    case Reason::held_by_user: return "held_by_user";
    case Reason::held_by_admin: return "held_by_admin";
    case Reason::requeued_held: return "requeued_held";
    case Reason::begin_time: return "begin_time";
    case Reason::dependency: return "dependency";
    case Reason::dependency_never: return "dependency_never";
    case Reason::array_limit: return "array_limit";
    case Reason::node_not_available: return "node_not_available";
    case Reason::nodes_down: return "nodes_down";
    case Reason::partition_down: return "partition_down";
    case Reason::partition_time_limit: return "partition_time_limit";
    case Reason::partition_node_limit: return "partition_node_limit";
    case Reason::bad_constraints: return "bad_constraints";
    case Reason::launch_failed_held: return "launch_failed_held";
    case Reason::deadline: return "deadline";
    case Reason::other_pods: return "other_pods";
  }
  return "";
}

// Who of a job's processes a signal is for (Slurm: --signal=B:, scancel --batch, --full).
enum class SignalTarget : std::uint8_t { steps, batch, all };
[[nodiscard]] constexpr std::string_view word(SignalTarget t) {
  switch (t) {
    case SignalTarget::steps: return "steps";
    case SignalTarget::batch: return "batch";
    case SignalTarget::all: return "all";
  }
  return "";
}

}  // namespace drover
