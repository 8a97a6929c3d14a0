// A row of the accounts: one per attempt of a job (and one for a job that never started). Rows are a
// projection of the log, kept in a file of their own (store/history), with texts instead of ids, so
// that they outlive nodes, shapes and symbols.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/describe.h"
#include "domain/event.h"
#include "domain/ids.h"
#include "domain/job_words.h"
#include "domain/placement.h"
#include "domain/request.h"
#include "domain/step.h"

namespace drover {

// One step of an attempt. Its amounts are over all nodes.
struct StepRow {
  std::uint32_t number = 0;
  std::string name;
  StepPhase phase = StepPhase::ended;
  Cause cause = Cause::none;
  std::uint32_t cancelled_by = 0;
  ExitStatus exit;
  std::string note;
  Instant started;
  Instant ended;  // Instant{}: not yet
  std::vector<std::string> nodes;
  std::uint32_t task_count = 0;
  std::uint32_t cpu_count = 0;
  Bytes memory;   // 0: shares the job's
  std::vector<GpuAsk> gpus;  // by model
  Usage usage;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "number", self.number);
    visit(2, "name", self.name);
    visit(3, "phase", self.phase);
    visit(4, "cause", self.cause);
    visit(5, "cancelled_by", self.cancelled_by);
    visit(6, "exit", self.exit);
    visit(7, "note", self.note);
    visit(8, "started", self.started);
    visit(9, "ended", self.ended);
    visit(10, "nodes", self.nodes);
    visit(11, "task_count", self.task_count);
    visit(12, "cpu_count", self.cpu_count);
    visit(13, "memory", self.memory);
    visit(14, "gpus", self.gpus);
    visit(15, "usage", self.usage);
  }
  friend bool operator==(const StepRow&, const StepRow&) = default;
};

struct HistoryRow {
  JobId job;
  JobId array;                 // none: a plain job
  std::uint32_t task = kNoTask;
  std::uint32_t restarts = 0;  // (job, restarts) is the key
  std::uint32_t attempt = 0;   // 0: it never started
  std::string name;
  std::string user;
  std::uint32_t uid = 0;
  std::string group;
  std::uint32_t gid = 0;
  std::string account;
  std::string qos;
  std::string partition;
  Phase phase = Phase::waiting;
  Cause cause = Cause::none;
  Reason reason = Reason::none;
  std::uint32_t cancelled_by = 0;
  ExitStatus exit;
  std::string note;
  Instant submitted;
  Instant eligible;
  Instant started;   // Instant{}: not yet
  Instant ended;     // Instant{}: not yet
  Duration limit{0};
  std::vector<std::string> nodes;
  Request request;
  std::uint32_t node_count = 0;
  std::uint32_t task_count = 0;
  std::uint32_t cpus_asked = 0;
  std::uint32_t cpu_count = 0;  // granted; 0: none yet
  Bytes memory;                 // granted
  std::vector<GpuAsk> gpus;     // granted, by model
  std::int64_t priority = 0;
  Usage usage;                  // of the batch script and all it started
  std::string work_dir;
  std::string submit_line;
  std::string comment;
  std::string wckey;
  std::string pending_tasks;    // of an array's record: "2-9%2"
  std::vector<StepRow> steps;   // by number, when they were asked for
  ExitStatus highest_exit;      // of the steps that are over (Slurm: DerivedExitCode)
  bool allocation = false;      // it had no script
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "job", self.job);
    visit(2, "array", self.array);
    visit(3, "task", self.task);
    visit(4, "restarts", self.restarts);
    visit(5, "attempt", self.attempt);
    visit(6, "name", self.name);
    visit(7, "user", self.user);
    visit(8, "uid", self.uid);
    visit(9, "group", self.group);
    visit(10, "gid", self.gid);
    visit(11, "account", self.account);
    visit(12, "qos", self.qos);
    visit(13, "partition", self.partition);
    visit(14, "phase", self.phase);
    visit(15, "cause", self.cause);
    visit(16, "reason", self.reason);
    visit(17, "cancelled_by", self.cancelled_by);
    visit(18, "exit", self.exit);
    visit(19, "note", self.note);
    visit(20, "submitted", self.submitted);
    visit(21, "eligible", self.eligible);
    visit(22, "started", self.started);
    visit(23, "ended", self.ended);
    visit(24, "limit", self.limit);
    visit(25, "nodes", self.nodes);
    visit(26, "request", self.request);
    visit(27, "node_count", self.node_count);
    visit(28, "task_count", self.task_count);
    visit(29, "cpus_asked", self.cpus_asked);
    visit(30, "cpu_count", self.cpu_count);
    visit(31, "memory", self.memory);
    visit(32, "gpus", self.gpus);
    visit(33, "priority", self.priority);
    visit(34, "usage", self.usage);
    visit(35, "work_dir", self.work_dir);
    visit(36, "submit_line", self.submit_line);
    visit(37, "comment", self.comment);
    visit(38, "wckey", self.wckey);
    visit(39, "pending_tasks", self.pending_tasks);
    visit(40, "steps", self.steps);
    visit(41, "highest_exit", self.highest_exit);
    visit(42, "allocation", self.allocation);
  }
  friend bool operator==(const HistoryRow&, const HistoryRow&) = default;
};

// All that is set must hold; an empty list asks for nothing.
struct HistoryQuery {
  std::vector<JobRef> jobs;
  std::vector<std::string> users;
  std::vector<std::string> names;
  std::vector<std::string> accounts;
  std::vector<std::string> partitions;
  std::vector<std::string> qos;
  std::vector<std::string> nodes;
  // Any of these; none set: every state. Within a window a job counts as waiting or running if it was
  // so at any time in it, whatever it is now, and as ended if it ended in it.
  bool waiting = false;
  bool running = false;
  std::vector<Cause> ended_as;
  // The window; without states: eligible before its end and not ended before its start.
  std::optional<Instant> since;
  std::optional<Instant> until;
  bool all_attempts = false;  // false: only the last of each job
  std::uint32_t limit = 0;    // 0: none
  bool steps = false;         // the rows with their steps
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "jobs", self.jobs);
    visit(2, "users", self.users);
    visit(3, "names", self.names);
    visit(4, "accounts", self.accounts);
    visit(5, "partitions", self.partitions);
    visit(6, "qos", self.qos);
    visit(7, "nodes", self.nodes);
    visit(8, "waiting", self.waiting);
    visit(9, "running", self.running);
    visit(10, "ended_as", self.ended_as);
    visit(11, "since", self.since);
    visit(12, "until", self.until);
    visit(13, "all_attempts", self.all_attempts);
    visit(14, "limit", self.limit);
    visit(15, "steps", self.steps);
  }
  friend bool operator==(const HistoryQuery&, const HistoryQuery&) = default;
};

// Does a row pass the query? What the accounts' file answers in SQL, for rows that aren't in it yet.
[[nodiscard]] bool passes(const HistoryRow& row, const HistoryQuery& query);

}  // namespace drover
