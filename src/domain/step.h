// Steps: what a job runs on a part of what it was granted. A step is a wish inside a placement; it is
// allocated by a pure function over the job's shares and the steps that are already there (step_fit.h).
// The meaning of each field is that of the option of srun(1) named beside it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/describe.h"
#include "base/quantity.h"
#include "base/time.h"
#include "domain/cpu_set.h"
#include "domain/ids.h"
#include "domain/job.h"
#include "domain/placement.h"
#include "domain/request.h"

namespace drover {

// A step's number in its job: 0, 1, 2 ... The batch script has the highest number that is none of them.
inline constexpr std::uint32_t kBatchStep = 0xFFFFFFFB;

// A step's life as the core knows it; that of its tasks is on their nodes.
enum class StepPhase : std::uint8_t { running, ending, ended };
[[nodiscard]] constexpr std::string_view word(StepPhase p) {
  switch (p) {
    case StepPhase::running: return "running";
    case StepPhase::ending: return "ending";  // an end was ordered
    case StepPhase::ended: return "ended";
  }
  return "";
}

// How task numbers are dealt to nodes (-m, --distribution; its first word).
enum class Distribution : std::uint8_t { block, cyclic, plane, arbitrary };
[[nodiscard]] constexpr std::string_view word(Distribution d) {
  switch (d) {
    case Distribution::block: return "block";
    case Distribution::cyclic: return "cyclic";
    case Distribution::plane: return "plane";
    case Distribution::arbitrary: return "arbitrary";  // in the order of include_nodes, one entry a task
  }
  return "";
}

struct StepRequest {
  std::uint32_t min_nodes = 0;       // -N; 0: as many of the job's as the tasks need, or all
  std::uint32_t max_nodes = 0;       // 0: no bound
  std::uint32_t tasks = 0;           // -n; 0: one per node, or tasks_per_node of each
  std::uint32_t tasks_per_node = 0;  // --ntasks-per-node
  std::uint32_t cpus_per_task = 0;   // -c; 0: not asked for
  MemoryRule memory_rule = MemoryRule::proportional;  // proportional: not asked for, shares the job's
  Bytes memory;
  std::vector<GpuAsk> gpus_per_node;  // --gpus-per-node, --gres
  std::vector<GpuAsk> gpus_per_task;
  std::vector<GpuAsk> gpus;           // -G, over all nodes of the step
  bool no_gpus = false;               // --gres=none, --gpus=0
  std::vector<std::string> include_nodes;  // -w
  std::vector<std::string> exclude_nodes;  // -x
  std::uint32_t first_node = 0;      // -r: counted from the job's first
  bool exact = false;                // only the CPUs that the tasks need, not all of the nodes'
  bool overlap = false;              // shares everything with other steps, and holds nothing
  bool overcommit = false;           // -O: more tasks than CPUs
  Distribution distribution = Distribution::block;
  std::uint32_t plane = 0;           // of Distribution::plane
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "min_nodes", self.min_nodes);
    visit(2, "max_nodes", self.max_nodes);
    visit(3, "tasks", self.tasks);
    visit(4, "tasks_per_node", self.tasks_per_node);
    visit(5, "cpus_per_task", self.cpus_per_task);
    visit(6, "memory_rule", self.memory_rule);
    visit(7, "memory", self.memory);
    visit(8, "gpus_per_node", self.gpus_per_node);
    visit(9, "gpus_per_task", self.gpus_per_task);
    visit(10, "gpus", self.gpus);
    visit(11, "no_gpus", self.no_gpus);
    visit(12, "include_nodes", self.include_nodes);
    visit(13, "exclude_nodes", self.exclude_nodes);
    visit(14, "first_node", self.first_node);
    visit(15, "exact", self.exact);
    visit(16, "overlap", self.overlap);
    visit(17, "overcommit", self.overcommit);
    visit(18, "distribution", self.distribution);
    visit(19, "plane", self.plane);
  }
  friend bool operator==(const StepRequest&, const StepRequest&) = default;
};

// A step's part on one node: which of the job's CPUs, bytes and devices it may use there, and which
// task numbers run there. With `overlap` the amounts are used, not held.
struct StepShare {
  NodeShare share;               // tasks, cpus, memory (0: the job's own bound), devices
  std::vector<TaskRange> tasks;  // task numbers, rising; their count is share.tasks
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "share", self.share);
    visit(2, "tasks", self.tasks);
  }
  friend bool operator==(const StepShare&, const StepShare&) = default;
};

// What one group of tasks runs (--multi-prog has several groups).
struct StepProgram {
  std::vector<TaskRange> tasks;  // empty: all
  std::vector<std::string> argv;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "tasks", self.tasks);
    visit(2, "argv", self.argv);
  }
  friend bool operator==(const StepProgram&, const StepProgram&) = default;
};

// The details of a step that no decision needs. Stored once by hash beside the log.
struct StepSpec {
  std::string door;                      // "slurm"
  std::vector<StepProgram> programs;
  std::vector<std::string> environment;  // "NAME=value", as the client wants it for every task
  std::string work_dir;
  // Files that the nodes open, patterns as given (%t %n %N ...). "": the stream to the client.
  std::string stdin_path;
  std::string stdout_path;
  std::string stderr_path;
  bool append_output = false;
  std::uint32_t umask = 022;
  std::map<std::string, std::int64_t> rlimits;
  std::uint32_t input_task = 0xFFFFFFFF; // who gets the client's input; 0xFFFFFFFF: all, 0xFFFFFFFE: none
  bool pty = false;                      // task 0 on a terminal of `rows` x `columns`
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  std::string cpu_bind;                  // --cpu-bind's words: "none", "cores", "map_cpu:0,2", "mask_cpu:3" ...
  std::string gpu_bind;                  // --gpu-bind's words: "closest", "single:1", "map_gpu:0,1" ...
  std::string submit_line;
  std::map<std::string, std::string> extra;  // what only the door knows
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "door", self.door);
    visit(2, "programs", self.programs);
    visit(3, "environment", self.environment);
    visit(4, "work_dir", self.work_dir);
    visit(5, "stdin_path", self.stdin_path);
    visit(6, "stdout_path", self.stdout_path);
    visit(7, "stderr_path", self.stderr_path);
    visit(8, "append_output", self.append_output);
    visit(9, "umask", self.umask);
    visit(10, "rlimits", self.rlimits);
    visit(11, "input_task", self.input_task);
    visit(12, "pty", self.pty);
    visit(13, "rows", self.rows);
    visit(14, "columns", self.columns);
    visit(15, "cpu_bind", self.cpu_bind);
    visit(16, "gpu_bind", self.gpu_bind);
    visit(17, "submit_line", self.submit_line);
    visit(18, "extra", self.extra);
  }
  friend bool operator==(const StepSpec&, const StepSpec&) = default;
};

// What a client asks for when it makes a step, alone or as the first of a job that it submits.
struct StepWish {
  std::string name;
  StepRequest request;
  PayloadHash spec;        // of the encoded StepSpec; filled in by the service
  std::string ticket;      // secret, made by the client from the system's chance; who has it may attach
  Duration limit{0};       // --time of the step; 0: the job's
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "name", self.name);
    visit(2, "request", self.request);
    visit(3, "spec", self.spec);
    visit(4, "ticket", self.ticket);
    visit(5, "limit", self.limit);
  }
  friend bool operator==(const StepWish&, const StepWish&) = default;
};

// Resident while its job is.
struct Step {
  std::uint32_t number = 0;
  std::uint32_t attempt = 0;  // of the job that it belongs to
  std::string name;
  StepRequest request;
  PayloadHash spec;
  std::string ticket;
  std::vector<StepShare> shares;
  Duration limit{0};
  Instant started;
  Instant ended;
  StepPhase phase = StepPhase::running;
  Cause cause = Cause::none;  // while ending: what was ordered; once ended: what it came to
  std::uint32_t cancelled_by = 0;
  ExitStatus exit;            // the highest of its tasks'
  Usage usage;                // added up; the peak is the largest of a node
  std::string note;
  std::vector<NodeId> over;   // nodes that have reported the end of their tasks
  Cause worst = Cause::none;  // of their reports: the first that isn't `completed`
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "number", self.number);
    visit(2, "attempt", self.attempt);
    visit(3, "name", self.name);
    visit(4, "request", self.request);
    visit(5, "spec", self.spec);
    visit(6, "ticket", self.ticket);
    visit(7, "shares", self.shares);
    visit(8, "limit", self.limit);
    visit(9, "started", self.started);
    visit(10, "ended", self.ended);
    visit(11, "phase", self.phase);
    visit(12, "cause", self.cause);
    visit(13, "cancelled_by", self.cancelled_by);
    visit(14, "exit", self.exit);
    visit(15, "usage", self.usage);
    visit(16, "note", self.note);
    visit(17, "over", self.over);
    visit(18, "worst", self.worst);
  }
  [[nodiscard]] bool uses(NodeId node) const;  // are there tasks of it, not yet over?
  friend bool operator==(const Step&, const Step&) = default;
};

// How bad an exit is, in a shell's number: 128 + the signal, or the code.
[[nodiscard]] constexpr std::int32_t shell_code(const ExitStatus& exit) {
  return exit.signal != 0 ? 128 + exit.signal : exit.code;
}

struct StepKey {
  std::string key;
  std::uint32_t step = 0;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "key", self.key);
    visit(2, "step", self.step);
  }
  friend bool operator==(const StepKey&, const StepKey&) = default;
};

// The steps of a job's current or last attempt. Those that are over go to the accounts; only the last
// few stay here, for clients that ask late.
struct JobSteps {
  std::uint32_t next = 0;  // the number of the next one
  ExitStatus highest;      // of all that are over (Slurm: DerivedExitCode)
  std::map<std::uint32_t, Step> steps;
  std::vector<std::uint32_t> over;  // in `steps`, oldest first
  std::vector<StepKey> keys;        // of the wishes that made them, oldest first
  friend bool operator==(const JobSteps&, const JobSteps&) = default;
};

}  // namespace drover
