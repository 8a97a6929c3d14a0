// All that the outside can tell the core. Inputs are stored beside the facts they led to, so that
// decisions replay, not only states.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "base/describe.h"
#include "domain/command.h"
#include "domain/event.h"
#include "domain/pod.h"
#include "domain/step.h"

namespace drover {

// A wish of somebody. `key` makes a submit idempotent: the same key of the same user gives the same job.
struct Asked {
  static constexpr std::string_view kName = "asked";
  Caller caller;
  std::string key;
  Command command;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "caller", self.caller);
    visit(2, "key", self.key);
    visit(3, "command", self.command);
  }
  friend bool operator==(const Asked&, const Asked&) = default;
};

struct Configure {
  static constexpr std::string_view kName = "configure";
  Config config;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) { visit(1, "config", self.config); }
  friend bool operator==(const Configure&, const Configure&) = default;
};

// An agent has opened a session and described its machine. `running` is its ledger: what it holds
// for us (by keeper and shims) at this moment.
struct HeldAttempt {
  JobId job;
  std::uint32_t attempt = 0;
  std::uint32_t step = kBatchStep;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "job", self.job);
    visit(2, "attempt", self.attempt);
    visit(3, "step", self.step);
  }
  friend bool operator==(const HeldAttempt&, const HeldAttempt&) = default;
};
struct NodeRegister {
  static constexpr std::string_view kName = "node_register";
  NodeInventory inventory;
  std::vector<HeldAttempt> held;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "inventory", self.inventory);
    visit(2, "held", self.held);
  }
  friend bool operator==(const NodeRegister&, const NodeRegister&) = default;
};

// No session for Settings::node_timeout.
struct NodeSilent {
  static constexpr std::string_view kName = "node_silent";
  NodeId node;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) { visit(1, "node", self.node); }
  friend bool operator==(const NodeSilent&, const NodeSilent&) = default;
};

// Reports of an agent about an attempt on its node.
struct ReportStarted {
  static constexpr std::string_view kName = "report_started";
  NodeId node;
  JobId job;
  std::uint32_t attempt = 0;
  Instant at;  // the node's clock; shown, never decided by
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "node", self.node);
    visit(2, "job", self.job);
    visit(3, "attempt", self.attempt);
    visit(4, "at", self.at);
  }
  friend bool operator==(const ReportStarted&, const ReportStarted&) = default;
};
struct ReportEnded {
  static constexpr std::string_view kName = "report_ended";
  NodeId node;
  JobId job;
  std::uint32_t attempt = 0;
  Cause cause = Cause::completed;  // completed, failed, time_limit, out_of_memory, cancelled, launch_failed, unknown
  ExitStatus exit;
  Usage usage;
  Duration ran{0};      // by the node's boot-time clock
  std::string note;
  bool leftover = false;  // something could not be killed: the node drains, the devices stay granted
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "node", self.node);
    visit(2, "job", self.job);
    visit(3, "attempt", self.attempt);
    visit(4, "cause", self.cause);
    visit(5, "exit", self.exit);
    visit(6, "usage", self.usage);
    visit(7, "ran", self.ran);
    visit(8, "note", self.note);
    visit(9, "leftover", self.leftover);
  }
  friend bool operator==(const ReportEnded&, const ReportEnded&) = default;
};

// A node's part of a step is over: none of its processes is left, or `leftover`.
struct ReportStepEnded {
  static constexpr std::string_view kName = "report_step_ended";
  NodeId node;
  JobId job;
  std::uint32_t attempt = 0;
  std::uint32_t step = 0;
  Cause cause = Cause::completed;
  ExitStatus exit;  // the highest of its tasks' here
  Usage usage;
  Duration ran{0};  // by the node's boot-time clock
  std::string note;
  bool leftover = false;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "node", self.node);
    visit(2, "job", self.job);
    visit(3, "attempt", self.attempt);
    visit(4, "step", self.step);
    visit(5, "cause", self.cause);
    visit(6, "exit", self.exit);
    visit(7, "usage", self.usage);
    visit(8, "ran", self.ran);
    visit(9, "note", self.note);
    visit(10, "leftover", self.leftover);
  }
  friend bool operator==(const ReportStepEnded&, const ReportStepEnded&) = default;
};

// What a pod's containers are doing: sent whenever something of it changes. Its last one comes before
// its ReportEnded.
struct ReportPod {
  static constexpr std::string_view kName = "report_pod";
  NodeId node;
  JobId job;
  std::uint32_t attempt = 0;
  PodStatus status;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "node", self.node);
    visit(2, "job", self.job);
    visit(3, "attempt", self.attempt);
    visit(4, "status", self.status);
  }
  friend bool operator==(const ReportPod&, const ReportPod&) = default;
};

// Time has come to Outcome::wake_at: begins, deadlines, forgetting.
struct Timer {
  static constexpr std::string_view kName = "timer";
  template <class Self, class Visit>
  static void describe(Self&, Visit&) {}
  friend bool operator==(const Timer&, const Timer&) = default;
};

// One slice of a scheduling pass, at most `budget` jobs.
struct Pass {
  static constexpr std::string_view kName = "pass";
  std::uint32_t budget = 250;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) { visit(1, "budget", self.budget); }
  friend bool operator==(const Pass&, const Pass&) = default;
};

struct ClockJump {
  static constexpr std::string_view kName = "clock_jump";
  Duration by{0};
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) { visit(1, "by", self.by); }
  friend bool operator==(const ClockJump&, const ClockJump&) = default;
};

using Input = std::variant<Asked, Configure, NodeRegister, NodeSilent, ReportStarted, ReportEnded, Timer, Pass,
                           ClockJump, ReportStepEnded, ReportPod>;

}  // namespace drover
