#include "slurm/render/job_text.h"

#include <algorithm>
#include <map>

#include "slurm/script/array.h"
#include "slurm/script/hostlist.h"

namespace drover::slurm {

std::vector<std::uint32_t> pending_tasks(const ArrayPending& pending) {
  std::vector<std::uint32_t> tasks;
  for (const TaskRange& range : pending.tasks) {
    for (std::uint64_t task = range.first; task <= range.last; task += std::max(range.step, 1U)) {
      tasks.push_back(static_cast<std::uint32_t>(task));
    }
  }
  return tasks;
}

std::string array_task_text(const api::JobView& job) {
  if (job.pending) {
    std::string text = print_tasks(pending_tasks(*job.pending));
    if (job.pending->throttle > 0) text += "%" + std::to_string(job.pending->throttle);
    return text;
  }
  return job.task == kNoTask ? "N/A" : std::to_string(job.task);
}

std::string job_id_text(const api::JobView& job) {
  if (job.pending) return std::to_string(job.id.value()) + "_[" + array_task_text(job) + "]";
  if (job.task != kNoTask) return std::to_string(job.array.value()) + "_" + std::to_string(job.task);
  return std::to_string(job.id.value());
}

std::optional<std::int64_t> time_of(Instant at) {
  return at == Instant{} ? std::nullopt : std::optional(unix_seconds(at));
}

std::optional<std::int64_t> start_of(const api::JobView& job, Instant now) {
  if (job.phase != Phase::waiting) return time_of(job.started);
  if (job.expected_start != Instant{}) return time_of(job.expected_start);
  return job.begin > now ? time_of(job.begin) : std::nullopt;
}

std::optional<std::int64_t> end_of(const api::JobView& job, Instant now) {
  if (job.phase == Phase::ended) return time_of(job.ended);
  const auto start = start_of(job, now);
  if (!start || job.limit.count() == 0) return std::nullopt;
  return *start + seconds_of(job.limit);
}

std::int64_t seconds_of(Duration duration) { return std::chrono::floor<seconds>(duration).count(); }

std::int64_t used_seconds(const api::JobView& job, Instant now) {
  if (job.phase == Phase::waiting || job.started == Instant{}) return 0;
  const Instant until = job.phase == Phase::ended ? job.ended : now;
  return std::max<std::int64_t>(0, unix_seconds(until) - unix_seconds(job.started));
}

std::string nodes_text(const std::vector<std::string>& nodes) { return compress_sorted(nodes); }

std::string nodes_or_reason(const api::JobView& job) {
  switch (job_state(job.phase, job.cause)) {
    case JobState::pending:
    case JobState::failed:
    case JobState::timeout:
    case JobState::out_of_memory:
    case JobState::deadline:
      return "(" + reason_text(job) + ")";
    case JobState::configuring:
    case JobState::running:
    case JobState::completing:
    case JobState::completed:
    case JobState::cancelled:
    case JobState::node_fail:
    case JobState::preempted:
    case JobState::requeued:
      return nodes_text(job.nodes);
  }
  return "";
}

std::int64_t min_memory_mib(const api::JobView& job) {
  switch (job.request.memory_rule) {
    case MemoryRule::per_node:
    case MemoryRule::per_cpu:
    case MemoryRule::per_gpu:
      return mib(job.request.memory);
    case MemoryRule::proportional:
      return job.node_count == 0 ? 0 : mib(job.memory) / job.node_count;
    case MemoryRule::whole_node:
      return 0;
  }
  return 0;
}

Tres asked_tres(const Request& request, const Extent& extent) {
  Tres tres{.cpus = extent.cpus, .nodes = extent.nodes, .billing = extent.cpus};
  tres.gpus = gpu_total(request.gpus_per_node) * extent.nodes + gpu_total(request.gpus_per_task) * extent.tasks +
              gpu_total(request.gpus_per_job);
  switch (request.memory_rule) {
    case MemoryRule::per_node:
      tres.memory_mib = mib(request.memory) * extent.nodes;
      break;
    case MemoryRule::per_cpu:
      tres.memory_mib = mib(request.memory) * extent.cpus;
      break;
    case MemoryRule::per_gpu:
      tres.memory_mib = mib(request.memory) * static_cast<std::int64_t>(tres.gpus);
      break;
    case MemoryRule::proportional:
    case MemoryRule::whole_node:
      tres.memory_mib = extent.memory_mib;
      break;
  }
  return tres;
}

Tres asked_tres(const api::JobView& job) {
  return asked_tres(
      job.request,
      {.cpus = job.cpu_count, .memory_mib = mib(job.memory), .nodes = job.node_count, .tasks = job.task_count});
}

Tres granted_tres(const api::JobView& job) {
  if (job.phase == Phase::waiting || job.nodes.empty()) return {};
  return {.cpus = job.cpu_count,
          .memory_mib = mib(job.memory),
          .nodes = job.node_count,
          .billing = job.cpu_count,
          .gpus = gpu_total(job.gpus)};
}

void sort_as_listed(std::vector<api::JobView>& jobs) {
  std::map<JobId, JobId> latest;
  for (const api::JobView& job : jobs) {
    if (job.array) latest[job.array] = std::max(latest[job.array], job.id);
  }
  const auto place = [&latest](const api::JobView& job) { return job.pending ? latest[job.array] : job.id; };
  sort_views(jobs, [&](const api::JobView& a, const api::JobView& b) {
    if (place(a) != place(b)) return place(a) < place(b);
    return a.pending.has_value() < b.pending.has_value();
  });
}

void each_task(std::vector<api::JobView> jobs, const std::function<void(const api::JobView&)>& row) {
  for (api::JobView& job : jobs) {
    if (!job.pending) {
      row(job);
      continue;
    }
    const auto tasks = pending_tasks(*job.pending);
    job.pending.reset();  // from here it stands for one task after the other: no copy for each
    for (const std::uint32_t task : tasks) {
      job.task = task;
      row(job);
    }
  }
}

std::string or_null(std::string text) { return text.empty() ? "(null)" : text; }

}  // namespace drover::slurm
