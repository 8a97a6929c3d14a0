// What a node needs to run its part of a step, and what a client and a node say to each other while it
// runs: input, output, signals and ends go straight between them, never through the controller.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "base/describe.h"
#include "base/quantity.h"
#include "base/time.h"
#include "domain/cpu_set.h"
#include "domain/job.h"

namespace drover {

// One task, bound: all that differs from its siblings.
struct LaunchTask {
  std::uint32_t id = 0;
  std::vector<std::string> argv;
  std::vector<std::string> environment;    // on top of the step's
  CpuSet cpus;                             // empty: all of the step's on this node
  std::vector<std::string> device_uuids;   // of the step's on this node
  std::string stdin_path;   // expanded; "": the stream
  std::string stdout_path;
  std::string stderr_path;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "id", self.id);
    visit(2, "argv", self.argv);
    visit(3, "environment", self.environment);
    visit(4, "cpus", self.cpus);
    visit(5, "device_uuids", self.device_uuids);
    visit(6, "stdin_path", self.stdin_path);
    visit(7, "stdout_path", self.stdout_path);
    visit(8, "stderr_path", self.stderr_path);
  }
  friend bool operator==(const LaunchTask&, const LaunchTask&) = default;
};

struct StepLaunch {
  std::string user;  // shown only; the uid counts
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::string ticket;
  std::vector<LaunchTask> tasks;
  std::vector<std::string> environment;  // of every task; complete but for what only the node knows
  std::string pid_variable;              // the node sets this one to each task's process id; "" none
  std::string work_dir;
  bool append_output = false;
  std::uint32_t umask = 022;
  std::map<std::string, std::int64_t> rlimits;
  std::uint32_t input_task = 0xFFFFFFFF;
  bool pty = false;
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  CpuSet cpus;                            // of the step on this node
  Bytes memory;                           // 0: only the job's bound
  std::vector<std::string> device_uuids;  // of the step on this node
  CpuSet job_cpus;                        // of the whole job on this node, for the group around
  Bytes job_memory;
  std::vector<std::string> job_device_uuids;
  Duration limit{0};
  Duration grace = seconds(30);
  bool no_new_privs = true;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "user", self.user);
    visit(2, "uid", self.uid);
    visit(3, "gid", self.gid);
    visit(4, "ticket", self.ticket);
    visit(5, "tasks", self.tasks);
    visit(6, "environment", self.environment);
    visit(7, "pid_variable", self.pid_variable);
    visit(8, "work_dir", self.work_dir);
    visit(9, "append_output", self.append_output);
    visit(10, "umask", self.umask);
    visit(11, "rlimits", self.rlimits);
    visit(12, "input_task", self.input_task);
    visit(13, "pty", self.pty);
    visit(14, "rows", self.rows);
    visit(15, "columns", self.columns);
    visit(16, "cpus", self.cpus);
    visit(17, "memory", self.memory);
    visit(18, "device_uuids", self.device_uuids);
    visit(19, "job_cpus", self.job_cpus);
    visit(20, "job_memory", self.job_memory);
    visit(21, "job_device_uuids", self.job_device_uuids);
    visit(22, "limit", self.limit);
    visit(23, "grace", self.grace);
    visit(24, "no_new_privs", self.no_new_privs);
  }
  friend bool operator==(const StepLaunch&, const StepLaunch&) = default;
};

// ---- the step's stream ----
// A client opens the agent's stream socket and sends one framed StepAttach; the agent checks it and
// joins it to the step's own process (on the same machine it hands over a descriptor, else agents pass
// bytes on, relay/door.h). From then on both sides speak base/resume.h: a connection that breaks is taken up again
// where it was. Inside it, each frame is one StepUp or StepDown.

enum class AttachAs : std::uint8_t { owner, watcher };  // a watcher sees output from now on (sattach)
[[nodiscard]] constexpr std::string_view word(AttachAs as) {
  switch (as) {
    case AttachAs::owner: return "owner";
    case AttachAs::watcher: return "watcher";
  }
  return "";
}
struct StepAttach {
  JobId job;
  std::uint32_t attempt = 0;
  std::uint32_t step = 0;
  std::string node;    // whose part; another node's agent is asked on the client's behalf
  std::string ticket;  // of the step; not needed from the step's own user on its own node
  AttachAs as = AttachAs::owner;
  std::uint64_t received = 0;  // messages of the stream that the client has: go on from there
  std::string address;  // of that node's door for streams, as the controller says; for an agent that relays
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "job", self.job);
    visit(2, "attempt", self.attempt);
    visit(3, "step", self.step);
    visit(4, "node", self.node);
    visit(5, "ticket", self.ticket);
    visit(6, "as", self.as);
    visit(7, "received", self.received);
    visit(8, "address", self.address);
  }
};
struct StepAttached {  // the answer; with `error` the connection is over
  std::string error;
  bool again = false;  // not now (the order hasn't come yet, the agent is starting): try again soon
  std::uint64_t received = 0;  // messages of the client that the step has
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "error", self.error);
    visit(2, "again", self.again);
    visit(3, "received", self.received);
  }
};

// ---- client -> step ----
struct StepInput {  // to input_task or all
  std::string bytes;
  bool last = false;  // the end of input; `bytes` is empty then
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "bytes", self.bytes);
    visit(2, "last", self.last);
  }
};
struct StepSignal {  // to every process of the step on this node
  std::uint32_t signal = 0;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) { visit(1, "signal", self.signal); }
};
struct StepResize {
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "rows", self.rows);
    visit(2, "columns", self.columns);
  }
};
struct StepEnd {  // SIGCONT and SIGTERM now, SIGKILL after the grace
  Duration grace{0};
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) { visit(1, "grace", self.grace); }
};
using StepUp = std::variant<StepInput, StepSignal, StepResize, StepEnd>;

// ---- step -> client ----
enum class StepChannel : std::uint8_t { out, err };
[[nodiscard]] constexpr std::string_view word(StepChannel channel) {
  switch (channel) {
    case StepChannel::out: return "out";
    case StepChannel::err: return "err";
  }
  return "";
}
struct StepOutput {
  std::uint32_t task = 0;
  StepChannel channel = StepChannel::out;
  std::string bytes;  // empty: this channel of this task is at its end
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "task", self.task);
    visit(2, "channel", self.channel);
    visit(3, "bytes", self.bytes);
  }
};
struct TaskStarted {
  std::uint32_t task = 0;
  std::int64_t pid = 0;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "task", self.task);
    visit(2, "pid", self.pid);
  }
};
struct TaskEnded {  // after the last output of its process; not of children that hold the pipe open
  std::uint32_t task = 0;
  ExitStatus exit;
  bool out_of_memory = false;
  std::string failure;  // why it didn't start; "": it did
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "task", self.task);
    visit(2, "exit", self.exit);
    visit(3, "out_of_memory", self.out_of_memory);
    visit(4, "failure", self.failure);
  }
};
struct PartEnded {  // nothing of the step is left on this node; the last frame
  Cause cause = Cause::completed;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) { visit(1, "cause", self.cause); }
};
using StepDown = std::variant<StepOutput, TaskStarted, TaskEnded, PartEnded>;

}  // namespace drover
