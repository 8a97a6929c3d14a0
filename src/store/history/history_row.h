// What accounting keeps of a job: one row for each of its attempts, and the steps of each. Texts are
// stored as they were when the attempt was written, so that a renamed user or node changes no past.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"

namespace drover::store {

struct HistoryStep {
  std::string name;  // "batch", "extern", or the number
  std::string title;
  std::string state;
  std::int32_t exit_code = 0;
  std::int32_t signal = 0;
  Instant start;
  Instant end;  // Instant{}: not yet, as everywhere here
  std::int64_t user_cpu_ms = 0;
  std::int64_t system_cpu_ms = 0;
  std::int64_t max_rss_bytes = 0;
  std::string nodes;
  std::uint32_t node_count = 0;
  std::uint32_t task_count = 0;
  std::uint32_t cpus = 0;
  std::string tres;

  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "name", self.name);
    visit(2, "title", self.title);
    visit(3, "state", self.state);
    visit(4, "exit_code", self.exit_code);
    visit(5, "signal", self.signal);
    visit(6, "start", self.start);
    visit(7, "end", self.end);
    visit(8, "user_cpu_ms", self.user_cpu_ms);
    visit(9, "system_cpu_ms", self.system_cpu_ms);
    visit(10, "max_rss_bytes", self.max_rss_bytes);
    visit(11, "nodes", self.nodes);
    visit(12, "node_count", self.node_count);
    visit(13, "task_count", self.task_count);
    visit(14, "cpus", self.cpus);
    visit(15, "tres", self.tres);
  }
  friend bool operator==(const HistoryStep&, const HistoryStep&) = default;
};

struct HistoryRow {
  // The key: a requeue makes a new row.
  std::uint64_t job = 0;
  std::uint32_t restart = 0;

  std::uint64_t array_job = 0;  // 0: not of an array
  std::optional<std::uint32_t> array_task;
  std::string name;
  std::string user;
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::string group;
  std::string account;
  std::string partition;
  std::string qos;

  std::string state;  // the word, and its number
  std::uint32_t state_code = 0;
  std::int32_t exit_code = 0;
  std::int32_t signal = 0;
  std::int32_t derived_exit_code = 0;
  std::int32_t derived_signal = 0;
  std::string reason;
  std::optional<std::uint32_t> cancelled_by;  // uid

  Instant submit;
  Instant eligible;
  Instant start;
  Instant end;

  std::string nodes;  // hostlist
  std::uint32_t node_count = 0;
  std::uint32_t requested_cpus = 0;
  std::uint32_t allocated_cpus = 0;
  std::string requested_tres;
  std::string allocated_tres;
  std::optional<std::uint32_t> time_limit_minutes;  // none: unlimited
  std::uint32_t priority = 0;
  std::uint32_t flags = 0;
  std::string work_dir;
  std::string submit_line;
  std::string comment;
  std::vector<HistoryStep> steps;

  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "job", self.job);
    visit(2, "restart", self.restart);
    visit(3, "array_job", self.array_job);
    visit(4, "array_task", self.array_task);
    visit(5, "name", self.name);
    visit(6, "user", self.user);
    visit(7, "uid", self.uid);
    visit(8, "gid", self.gid);
    visit(9, "group", self.group);
    visit(10, "account", self.account);
    visit(11, "partition", self.partition);
    visit(12, "qos", self.qos);
    visit(13, "state", self.state);
    visit(14, "state_code", self.state_code);
    visit(15, "exit_code", self.exit_code);
    visit(16, "signal", self.signal);
    visit(17, "derived_exit_code", self.derived_exit_code);
    visit(18, "derived_signal", self.derived_signal);
    visit(19, "reason", self.reason);
    visit(20, "cancelled_by", self.cancelled_by);
    visit(21, "submit", self.submit);
    visit(22, "eligible", self.eligible);
    visit(23, "start", self.start);
    visit(24, "end", self.end);
    visit(25, "nodes", self.nodes);
    visit(26, "node_count", self.node_count);
    visit(27, "requested_cpus", self.requested_cpus);
    visit(28, "allocated_cpus", self.allocated_cpus);
    visit(29, "requested_tres", self.requested_tres);
    visit(30, "allocated_tres", self.allocated_tres);
    visit(31, "time_limit_minutes", self.time_limit_minutes);
    visit(32, "priority", self.priority);
    visit(33, "flags", self.flags);
    visit(34, "work_dir", self.work_dir);
    visit(35, "submit_line", self.submit_line);
    visit(36, "comment", self.comment);
    visit(37, "steps", self.steps);
  }
  friend bool operator==(const HistoryRow&, const HistoryRow&) = default;
};

// All that is set must hold; an empty list asks for nothing.
struct HistoryFilter {
  struct Job {
    std::uint64_t id = 0;  // of a job, or of an array: then all its tasks
    std::optional<std::uint32_t> array_task;
  };
  std::vector<Job> jobs;
  std::vector<std::string> users;
  std::vector<std::string> names;
  std::vector<std::string> accounts;
  std::vector<std::string> partitions;
  std::vector<std::string> qos;

  // Any of these; none set: every state. Within a window a job counts as waiting or running if it was
  // so at any time in it, whatever it is now, and as ended if it ended in it.
  bool waiting = false;
  bool running = false;
  std::vector<std::string> ended_as;  // words of HistoryRow::state

  // The window; without states: eligible before its end and not ended before its start.
  std::optional<Instant> since;
  std::optional<Instant> until;

  bool all_attempts = false;  // otherwise only the last attempt of each job
  std::size_t limit = 0;      // 0: none
};

}  // namespace drover::store
