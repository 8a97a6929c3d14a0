// What is said between the agent, the keeper and the shims. All are plain values: no word of any
// door and none of the scheduler.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "agent/cgroup/cgroup.h"
#include "base/describe.h"
#include "base/time.h"

namespace drover::agent {

struct ResourceLimit {
  std::int32_t resource = 0;  // RLIMIT_*
  std::uint64_t soft = 0;
  std::uint64_t hard = 0;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "resource", self.resource);
    visit(2, "soft", self.soft);
    visit(3, "hard", self.hard);
  }
  friend bool operator==(const ResourceLimit&, const ResourceLimit&) = default;
};

// A share of a device; 1000 is the whole of it.
struct DeviceGrant {
  std::string device;
  std::int64_t milli = 1000;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "device", self.device);
    visit(2, "milli", self.milli);
  }
  friend bool operator==(const DeviceGrant&, const DeviceGrant&) = default;
};

enum class SignalScope : std::uint8_t { all, main_only, all_but_main };
[[nodiscard]] constexpr std::string_view word(SignalScope scope) {
  switch (scope) {
    case SignalScope::all: return "all";
    case SignalScope::main_only: return "main_only";
    case SignalScope::all_but_main: return "all_but_main";
  }
  return "";
}

struct BoxMount {
  std::string source;
  std::string target;  // must be there on the machine
  bool read_only = false;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "source", self.source);
    visit(2, "target", self.target);
    visit(3, "read_only", self.read_only);
  }
  friend bool operator==(const BoxMount&, const BoxMount&) = default;
};

// Around a process of a pod: namespaces, volumes, a log, and a group in its pod's.
struct Box {
  std::string pod;    // the name of its group
  std::string group;  // its own in that
  Limits pod_limits;
  std::string host_name;
  std::vector<BoxMount> mounts;
  bool own_pids = true;
  bool own_ipc = true;
  std::string log_path;  // in place of StartSpec's files
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "pod", self.pod);
    visit(2, "group", self.group);
    visit(3, "pod_limits", self.pod_limits);
    visit(4, "host_name", self.host_name);
    visit(5, "mounts", self.mounts);
    visit(6, "own_pids", self.own_pids);
    visit(7, "own_ipc", self.own_ipc);
    visit(8, "log_path", self.log_path);
  }
  friend bool operator==(const Box&, const Box&) = default;
};

// One try to run one job on this node.
struct StartSpec {
  // A program of argv[0] is looked up in the job's PATH unless it has a slash. With a script, the
  // script is the program and its path takes the place of argv[0].
  std::vector<std::string> argv;
  std::string script;
  std::vector<std::string> environment;  // "NAME=value"
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::vector<std::uint32_t> groups;
  std::string cwd = "/tmp";
  std::uint32_t umask = 022;
  std::vector<ResourceLimit> rlimits;
  std::string stdin_path = "/dev/null";
  std::string stdout_path = "/dev/null";
  std::string stderr_path;  // empty, or the same as stdout_path: the same file
  bool append = false;      // to output files, instead of emptying them
  Limits limits;
  std::vector<DeviceGrant> devices;  // kept with the attempt, so that a new agent knows who has what
  Duration time_limit{};             // from the start of the program; 0: none
  std::int32_t warn_signal = 0;      // 0: none
  Duration warn_before{};            // the end of time_limit
  SignalScope warn_scope = SignalScope::all_but_main;
  Duration grace = seconds(30);  // between SIGTERM and SIGKILL when the time is up
  bool no_new_privileges = true;
  std::optional<Box> box;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "argv", self.argv);
    visit(2, "script", self.script);
    visit(3, "environment", self.environment);
    visit(4, "uid", self.uid);
    visit(5, "gid", self.gid);
    visit(6, "groups", self.groups);
    visit(7, "cwd", self.cwd);
    visit(8, "umask", self.umask);
    visit(9, "rlimits", self.rlimits);
    visit(10, "stdin_path", self.stdin_path);
    visit(11, "stdout_path", self.stdout_path);
    visit(12, "stderr_path", self.stderr_path);
    visit(13, "append", self.append);
    visit(14, "limits", self.limits);
    visit(15, "devices", self.devices);
    visit(16, "time_limit", self.time_limit);
    visit(17, "warn_signal", self.warn_signal);
    visit(18, "warn_before", self.warn_before);
    visit(19, "warn_scope", self.warn_scope);
    visit(20, "grace", self.grace);
    visit(21, "no_new_privileges", self.no_new_privileges);
    visit(22, "box", self.box);
  }
  friend bool operator==(const StartSpec&, const StartSpec&) = default;
};

// Orders to a running shim.
struct SendSignal {
  std::int32_t signal = 0;
  SignalScope scope = SignalScope::all;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "signal", self.signal);
    visit(2, "scope", self.scope);
  }
};
// SIGCONT and SIGTERM now, SIGKILL after the grace. Of two, the earlier SIGKILL wins.
struct Terminate {
  Duration grace{};
  std::string reason;  // comes back in Ended
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "grace", self.grace);
    visit(2, "reason", self.reason);
  }
};
struct SetTimeLimit {
  Duration limit{};  // from the start of the program; 0: none
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "limit", self.limit);
  }
};
using Command = std::variant<SendSignal, Terminate, SetTimeLimit>;

// What an attempt holds, from before its first process on.
struct Claim {
  std::vector<DeviceGrant> devices;
  std::string boot_id;
  std::string group;  // name of its cgroup, which is its shim's
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "devices", self.devices);
    visit(2, "boot_id", self.boot_id);
    visit(3, "group", self.group);
  }
  friend bool operator==(const Claim&, const Claim&) = default;
};

struct Started {
  std::int64_t pid = 0;
  Instant at;             // wall clock
  Duration since_boot{};  // the same moment
  std::vector<std::string> notes;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "pid", self.pid);
    visit(2, "at", self.at);
    visit(3, "since_boot", self.since_boot);
    visit(4, "notes", self.notes);
  }
  friend bool operator==(const Started&, const Started&) = default;
};

// lost: its shim was killed, so nobody knows how the program ended; what was left of it has been killed.
enum class Cause : std::uint8_t { exited, time_limit, terminated, out_of_memory, not_started, lost };
[[nodiscard]] constexpr std::string_view word(Cause cause) {
  switch (cause) {
    case Cause::exited: return "exited";
    case Cause::time_limit: return "time_limit";
    case Cause::terminated: return "terminated";
    case Cause::out_of_memory: return "out_of_memory";
    case Cause::not_started: return "not_started";
    case Cause::lost: return "lost";
  }
  return "";
}

struct Ended {
  Cause cause = Cause::exited;
  std::int32_t exit_code = 0;  // of the main process, when no signal ended it
  std::int32_t signal = 0;
  bool core_dumped = false;
  std::string reason;   // of the Terminate that ended it
  std::string message;  // why it didn't start
  Instant at;
  Duration since_boot{};
  std::int64_t user_us = 0;
  std::int64_t system_us = 0;
  std::int64_t cpu_us = 0;       // of the whole cgroup; 0: not known
  std::int64_t peak_memory = 0;  // bytes, of the whole cgroup, else of the largest process
  std::int64_t oom_kills = 0;
  bool leftover = false;  // processes that not even SIGKILL ends are still there
  bool own_fault = false; // not started, and no other node would: its files or its program are wrong
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "cause", self.cause);
    visit(2, "exit_code", self.exit_code);
    visit(3, "signal", self.signal);
    visit(4, "core_dumped", self.core_dumped);
    visit(5, "reason", self.reason);
    visit(6, "message", self.message);
    visit(7, "at", self.at);
    visit(8, "since_boot", self.since_boot);
    visit(9, "user_us", self.user_us);
    visit(10, "system_us", self.system_us);
    visit(11, "cpu_us", self.cpu_us);
    visit(12, "peak_memory", self.peak_memory);
    visit(13, "oom_kills", self.oom_kills);
    visit(14, "leftover", self.leftover);
    visit(15, "own_fault", self.own_fault);
  }
  friend bool operator==(const Ended&, const Ended&) = default;
};

// unknown: its shim is gone and left no word. Its processes may still run.
enum class AttemptState : std::uint8_t { starting, running, ended, unknown };
[[nodiscard]] constexpr std::string_view word(AttemptState state) {
  switch (state) {
    case AttemptState::starting: return "starting";
    case AttemptState::running: return "running";
    case AttemptState::ended: return "ended";
    case AttemptState::unknown: return "unknown";
  }
  return "";
}

struct Attempt {
  std::string key;
  AttemptState state = AttemptState::starting;
  std::optional<Claim> claim;
  std::optional<Started> started;
  std::optional<Ended> ended;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "key", self.key);
    visit(2, "state", self.state);
    visit(3, "claim", self.claim);
    visit(4, "started", self.started);
    visit(5, "ended", self.ended);
  }
  friend bool operator==(const Attempt&, const Attempt&) = default;
};

// To the keeper. The inner bytes go on to the shim as they are.
struct StartOrder {
  std::string key;
  std::string spec;  // an encoded StartSpec
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "key", self.key);
    visit(2, "spec", self.spec);
  }
};
struct TellOrder {
  std::string key;
  std::string command;  // an encoded Command
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "key", self.key);
    visit(2, "command", self.command);
  }
};
struct PartOrder {
  std::string key;
  std::string spec;  // an encoded PartSpec
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "key", self.key);
    visit(2, "spec", self.spec);
  }
};
using Order = std::variant<StartOrder, TellOrder, PartOrder>;

}  // namespace drover::agent
