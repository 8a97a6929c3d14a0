// A job: what the core keeps of it (small, resident) and what is stored beside the log (JobSpec).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "base/describe.h"
#include "base/rare.h"
#include "base/time.h"
#include "domain/exit_status.h"
#include "domain/ids.h"
#include "domain/job_words.h"
#include "domain/placement.h"
#include "domain/pod.h"

namespace drover {

// ---- dependencies (sbatch(1) --dependency) ----

enum class DependencyKind : std::uint8_t { after, after_any, after_ok, after_not_ok, after_corr, singleton };
[[nodiscard]] constexpr std::string_view word(DependencyKind k) {
  switch (k) {
    case DependencyKind::after: return "after";
    case DependencyKind::after_any: return "after_any";
    case DependencyKind::after_ok: return "after_ok";
    case DependencyKind::after_not_ok: return "after_not_ok";
    case DependencyKind::after_corr: return "after_corr";
    case DependencyKind::singleton: return "singleton";
  }
  return "";
}

inline constexpr std::uint32_t kNoTask = 0xFFFFFFFE;

struct DependencyTerm {
  DependencyKind kind = DependencyKind::after_any;
  JobId job;                      // none for singleton
  std::uint32_t task = kNoTask;   // of array `job`; kNoTask: the whole array
  Duration delay{0};              // after:job+minutes
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "kind", self.kind);
    visit(2, "job", self.job);
    visit(3, "task", self.task);
    visit(4, "delay", self.delay);
  }
  friend bool operator==(const DependencyTerm&, const DependencyTerm&) = default;
};

// What is still to be met. `any`: one term is enough ("?"); else all are needed (",").
struct Dependency {
  bool any = false;
  std::vector<DependencyTerm> terms;
  bool never = false;  // can't be met any more
  bool cancel_if_never = false;  // --kill-on-invalid-dep=yes
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "any", self.any);
    visit(2, "terms", self.terms);
    visit(3, "never", self.never);
    visit(4, "cancel_if_never", self.cancel_if_never);
  }
  friend bool operator==(const Dependency&, const Dependency&) = default;
};

// ---- arrays ----

// A run of task numbers: first, first+step, ..., not beyond last.
struct TaskRange {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  std::uint32_t step = 1;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "first", self.first);
    visit(2, "last", self.last);
    visit(3, "step", self.step);
  }
  friend bool operator==(const TaskRange&, const TaskRange&) = default;
};

// The tasks of an array that still wait, kept in the one record that stands for all of them. A task
// that starts (or is changed alone) is split off under a job id of its own; the last one keeps the
// array's id, as in Slurm.
struct ArrayPending {
  std::vector<TaskRange> tasks;  // rising, disjoint
  std::uint32_t throttle = 0;    // 0: no bound on how many run at once
  std::uint32_t total = 0;       // as submitted: count, smallest, largest and step for the environment
  std::uint32_t min = 0;
  std::uint32_t max = 0;
  std::uint32_t step = 1;
  std::string text;              // as submitted, e.g. "0-9%2"
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "tasks", self.tasks);
    visit(2, "throttle", self.throttle);
    visit(3, "total", self.total);
    visit(4, "min", self.min);
    visit(5, "max", self.max);
    visit(6, "step", self.step);
    visit(7, "text", self.text);
  }
  [[nodiscard]] std::uint32_t count() const;
  [[nodiscard]] std::uint32_t first() const { return tasks.empty() ? kNoTask : tasks.front().first; }
  [[nodiscard]] bool contains(std::uint32_t task) const;
  void remove(std::uint32_t task);
  friend bool operator==(const ArrayPending&, const ArrayPending&) = default;
};

// ---- the job ----

// What the shim measured.
struct Usage {
  Duration user_cpu{0};
  Duration system_cpu{0};
  Bytes peak_memory;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "user_cpu", self.user_cpu);
    visit(2, "system_cpu", self.system_cpu);
    visit(3, "peak_memory", self.peak_memory);
  }
  friend bool operator==(const Usage&, const Usage&) = default;
};

// What is known of an attempt's end while a node still holds a part of it.
struct Closing {
  Cause cause = Cause::none;      // by the first report
  ExitStatus exit;
  Usage usage;                    // added up
  std::string note;
  std::vector<NodeId> released;   // nodes that hold nothing of it any more
  Instant at;                     // of the first part's end
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "cause", self.cause);
    visit(2, "exit", self.exit);
    visit(3, "usage", self.usage);
    visit(4, "note", self.note);
    visit(5, "released", self.released);
    visit(6, "at", self.at);
  }
  friend bool operator==(const Closing&, const Closing&) = default;
};

// A warning before the time limit: --signal=[R][B]:SIG[@SEC].
struct WarnSignal {
  std::uint32_t signal = 0;  // 0: none
  Duration before = seconds(60);
  SignalTarget target = SignalTarget::steps;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "signal", self.signal);
    visit(2, "before", self.before);
    visit(3, "target", self.target);
  }
  friend bool operator==(const WarnSignal&, const WarnSignal&) = default;
};

// The details of a job that no decision needs. Stored once by hash beside the log, read for
// launching and for detailed views.
struct JobSpec {
  std::string door;  // "slurm", "kubernetes": who translates it back
  PayloadHash script;       // the batch script's text
  PayloadHash environment;  // NUL-separated NAME=value, as submitted
  std::vector<std::string> arguments;  // of the script
  std::string work_dir;
  std::string stdin_path;   // patterns as given by the user; "" the door's default
  std::string stdout_path;
  std::string stderr_path;
  bool append_output = false;
  std::uint32_t umask = 022;
  std::map<std::string, std::int64_t> rlimits;  // "nofile" -> soft limit, of the submitter's shell
  std::string command;      // shown: path of the script, "" for --wrap and stdin
  std::string submit_line;
  std::string comment;
  std::string submit_host;
  std::uint32_t session_id = 0;  // AllocNode:Sid
  std::string mail_user;
  std::string mail_types;        // comma-separated, as given
  std::string wckey;
  WarnSignal warn;
  std::map<std::string, std::string> extra;  // what only the door knows (export mode, hints ...)
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "door", self.door);
    visit(2, "script", self.script);
    visit(3, "environment", self.environment);
    visit(4, "arguments", self.arguments);
    visit(5, "work_dir", self.work_dir);
    visit(6, "stdin_path", self.stdin_path);
    visit(7, "stdout_path", self.stdout_path);
    visit(8, "stderr_path", self.stderr_path);
    visit(9, "append_output", self.append_output);
    visit(10, "umask", self.umask);
    visit(11, "rlimits", self.rlimits);
    visit(12, "command", self.command);
    visit(13, "submit_line", self.submit_line);
    visit(14, "comment", self.comment);
    visit(15, "submit_host", self.submit_host);
    visit(16, "session_id", self.session_id);
    visit(17, "mail_user", self.mail_user);
    visit(18, "mail_types", self.mail_types);
    visit(19, "wckey", self.wckey);
    visit(20, "warn", self.warn);
    visit(21, "extra", self.extra);
  }
  friend bool operator==(const JobSpec&, const JobSpec&) = default;
};

// What placements, ends and failed launches have left of a job. One that has only waited has none of it.
struct Run {
  Instant started;                     // of the current attempt (its placement)
  Instant ended;
  std::uint32_t attempt = 0;           // of the current or last placement; the first is 1
  std::uint32_t restarts = 0;
  std::uint32_t launch_failures = 0;   // in a row
  std::uint32_t cancelled_by = 0;      // uid, when cause is cancelled
  ExitStatus exit;
  std::shared_ptr<const Placement> placement;        // while placed, running, ending; and of the last attempt
  std::shared_ptr<const std::string> note;           // free text beside an end ("output file: permission denied")
  std::shared_ptr<const Closing> closing;            // while ending, once a node has reported
  std::shared_ptr<const std::vector<NodeId>> avoid;  // nodes where its launch failed
  std::shared_ptr<const PodStatus> pod;              // as its node last said; of the last attempt
  friend bool operator==(const Run& a, const Run& b);  // by value, through the pointers
};

// Resident in the core for each job that waits, runs or ended lately: keep it small.
struct Job {
  JobId id;
  JobId array;                         // of the array it belongs to (its own id for the array itself)
  std::uint32_t task = kNoTask;        // its number in the array, once it is a single task
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::string name;
  Symbol user;
  Symbol group;
  Symbol account;
  Symbol qos;
  Symbol partitions;                   // as asked: "main" or "main,debug"
  Symbol partition;                    // where it was placed; before that, the first asked
  ShapeId shape;
  PayloadHash spec;
  Instant submitted;
  Instant begin;                       // not before (--begin, requeue delay); Instant{}: at once
  Instant eligible;                    // since when nothing but resources kept it; Instant{}: not yet
  Duration limit{0};                   // 0: none
  Duration min_limit{0};               // --time-min; 0: same as limit
  Instant deadline;                    // Instant{}: none
  std::int64_t priority = 0;
  std::int32_t nice = 0;
  Phase phase = Phase::waiting;
  Cause cause = Cause::none;           // while ending: what was ordered; once ended: what it came to
  Hold hold = Hold::none;
  Reason reason = Reason::none;
  bool requeue = true;                 // may be started again after a node failure or preemption
  bool node_lost = false;              // its node is lost: running, for all that is known
  bool priority_set = false;           // by an administrator: not recomputed
  bool allocation = false;             // no script: it runs from its placement on, until its client ends it
  bool pod = false;                    // its node runs containers (domain/pod.h); it waits for any node to come
  std::uint64_t version = 0;           // of its last change (Cluster::version)
  std::shared_ptr<const ArrayPending> pending;   // only on a record that stands for several tasks
  std::shared_ptr<const Dependency> dependency;  // what is still to be met
  Rare<Run> run;
  std::shared_ptr<const ArrayPending> array_info;  // of every record of an array: it as submitted, no tasks

  [[nodiscard]] bool active() const {
    return phase == Phase::placed || phase == Phase::running || phase == Phase::ending;
  }
  [[nodiscard]] bool holds(NodeId node) const;  // does it still hold something there?
  [[nodiscard]] bool is_array() const { return static_cast<bool>(pending); }

  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    auto& run = run_of(self);
    visit(1, "id", self.id);
    visit(2, "array", self.array);
    visit(3, "task", self.task);
    visit(4, "uid", self.uid);
    visit(5, "gid", self.gid);
    visit(6, "name", self.name);
    visit(7, "user", self.user);
    visit(8, "group", self.group);
    visit(9, "account", self.account);
    visit(10, "qos", self.qos);
    visit(11, "partitions", self.partitions);
    visit(12, "partition", self.partition);
    visit(13, "shape", self.shape);
    visit(14, "spec", self.spec);
    visit(15, "submitted", self.submitted);
    visit(16, "begin", self.begin);
    visit(17, "eligible", self.eligible);
    visit(18, "started", run.started);
    visit(19, "ended", run.ended);
    visit(20, "limit", self.limit);
    visit(21, "min_limit", self.min_limit);
    visit(22, "deadline", self.deadline);
    visit(23, "priority", self.priority);
    visit(24, "nice", self.nice);
    visit(25, "attempt", run.attempt);
    visit(26, "restarts", run.restarts);
    visit(27, "launch_failures", run.launch_failures);
    visit(28, "exit", run.exit);
    visit(29, "phase", self.phase);
    visit(30, "cause", self.cause);
    visit(31, "hold", self.hold);
    visit(32, "reason", self.reason);
    visit(33, "requeue", self.requeue);
    visit(34, "node_lost", self.node_lost);
    visit(35, "priority_set", self.priority_set);
    visit(36, "cancelled_by", run.cancelled_by);
    visit(37, "pending", self.pending);
    visit(38, "dependency", self.dependency);
    visit(39, "placement", run.placement);
    visit(40, "note", run.note);
    visit(41, "closing", run.closing);
    visit(42, "avoid", run.avoid);
    visit(43, "array_info", self.array_info);
    visit(44, "allocation", self.allocation);
    visit(45, "pod", self.pod);
    visit(46, "version", self.version);
    visit(47, "pod_status", run.pod);
  }
  friend bool operator==(const Job& a, const Job& b);  // by value, through the pointers

 private:
  template <class Self>
  static auto& run_of(Self& self) {
    if constexpr (std::is_const_v<Self>) return *self.run;
    else return self.run.edit();
  }
};

}  // namespace drover
