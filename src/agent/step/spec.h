// A node's part of a step, as the agent orders it: plain values, no word of any door.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "agent/cgroup/cgroup.h"
#include "agent/shim/spec.h"
#include "base/describe.h"
#include "base/time.h"

namespace drover::agent {

inline constexpr std::uint32_t kInputToAll = 0xFFFFFFFF;
inline constexpr std::uint32_t kInputToNone = 0xFFFFFFFE;

struct TaskSpec {
  std::uint32_t id = 0;
  std::vector<std::string> argv;         // argv[0] is looked up in the task's PATH unless it has a slash
  std::vector<std::string> environment;  // wins over the part's
  std::vector<std::int32_t> cpus;        // empty: all of the part's
  std::string stdin_path;                // "": the stream to the client
  std::string stdout_path;
  std::string stderr_path;
  std::vector<std::string> devices;      // those of the part's that it is told of; empty: all
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "id", self.id);
    visit(2, "argv", self.argv);
    visit(3, "environment", self.environment);
    visit(4, "cpus", self.cpus);
    visit(5, "stdin_path", self.stdin_path);
    visit(6, "stdout_path", self.stdout_path);
    visit(7, "stderr_path", self.stderr_path);
    visit(8, "devices", self.devices);
  }
};

struct PartSpec {
  std::vector<TaskSpec> tasks;
  std::vector<std::string> environment;
  std::string pid_variable;  // set to each task's process id; "": none
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::vector<std::uint32_t> groups;
  std::string cwd = "/tmp";
  std::uint32_t umask = 022;
  std::vector<ResourceLimit> rlimits;
  bool append = false;
  std::uint32_t input_task = kInputToAll;
  bool pty = false;  // for the first of the tasks when that is number 0
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  Limits job_limits;  // of the group around
  Limits limits;
  std::vector<DeviceGrant> devices;      // all of them also its job's
  std::vector<std::string> job_devices;
  Duration time_limit{};             // 0: none
  Duration grace = seconds(30);
  bool no_new_privileges = true;
  std::string ticket;                      // whoever has it may attach, beside the user and root
  Duration owner_patience = seconds(30);   // without a client for so long the part is ended
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "tasks", self.tasks);
    visit(2, "environment", self.environment);
    visit(3, "pid_variable", self.pid_variable);
    visit(4, "uid", self.uid);
    visit(5, "gid", self.gid);
    visit(6, "groups", self.groups);
    visit(7, "cwd", self.cwd);
    visit(8, "umask", self.umask);
    visit(9, "rlimits", self.rlimits);
    visit(10, "append", self.append);
    visit(11, "input_task", self.input_task);
    visit(12, "pty", self.pty);
    visit(13, "rows", self.rows);
    visit(14, "columns", self.columns);
    visit(15, "job_limits", self.job_limits);
    visit(16, "limits", self.limits);
    visit(17, "devices", self.devices);
    visit(18, "time_limit", self.time_limit);
    visit(19, "grace", self.grace);
    visit(20, "no_new_privileges", self.no_new_privileges);
    visit(21, "ticket", self.ticket);
    visit(22, "owner_patience", self.owner_patience);
    visit(23, "job_devices", self.job_devices);
  }
};

// The first word from an agent to a part's own socket: whom it brings, as the kernel named him. From another
// machine it is nobody (relay/opening.h), whom only the ticket lets in.
struct Introduction {
  std::string attach;  // an encoded StepAttach
  std::uint32_t uid = 0;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "attach", self.attach);
    visit(2, "uid", self.uid);
  }
};

// How one task ended, as it is kept in the records. Plain bytes of a fixed length.
struct TaskEnd {
  std::uint32_t task = 0;
  std::int32_t exit_code = 0;
  std::int32_t signal = 0;
  std::int32_t known = 0;  // 1; a record that was never written is 0
};

}  // namespace drover::agent
