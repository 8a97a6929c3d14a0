#include "control/accounts.h"

#include <map>

#include "api/views.h"

namespace drover::control {
namespace {

std::string pending_text(const ArrayPending& pending) {
  std::string text;
  for (const TaskRange& range : pending.tasks) {
    if (!text.empty()) text += ',';
    text += std::to_string(range.first);
    if (range.last != range.first) text += '-' + std::to_string(range.last);
    if (range.step > 1) text += ':' + std::to_string(range.step);
  }
  if (pending.throttle > 0) text += '%' + std::to_string(pending.throttle);
  return text;
}

}  // namespace

HistoryRow history_row(const Cluster& cluster, const Job& job, Payloads& payloads) {
  const api::JobView view = api::job_view(cluster, job, api::Fields{});
  HistoryRow row{.job = job.id,
                 .array = job.array,
                 .task = job.task,
                 .restarts = job.run->restarts,
                 .attempt = job.run->attempt,
                 .name = job.name,
                 .user = view.user,
                 .uid = job.uid,
                 .group = view.group,
                 .gid = job.gid,
                 .account = view.account,
                 .qos = view.qos,
                 .partition = view.partition,
                 .phase = job.phase,
                 .cause = job.cause,
                 .reason = job.reason,
                 .cancelled_by = job.run->cancelled_by,
                 .exit = job.run->exit,
                 .note = view.note,
                 .submitted = job.submitted,
                 .eligible = job.eligible,
                 .started = job.phase == Phase::waiting ? Instant{} : job.run->started,
                 .ended = job.run->ended,
                 .limit = job.limit,
                 .nodes = view.nodes,
                 .request = view.request,
                 .node_count = view.node_count,
                 .task_count = view.task_count,
                 .cpus_asked = view.cpu_count,
                 .memory = view.memory,
                 .gpus = view.gpus,
                 .priority = job.priority,
                 .highest_exit = view.highest_exit,
                 .allocation = job.allocation};
  if (!view.nodes.empty()) row.cpu_count = view.cpu_count;
  if (job.pending) row.pending_tasks = pending_text(*job.pending);
  if (const auto spec = payloads.spec(job.spec)) {
    row.work_dir = spec->work_dir;
    row.submit_line = spec->submit_line;
    row.comment = spec->comment;
    row.wckey = spec->wckey;
  }
  return row;
}

StepRow step_row(const Cluster& cluster, const Job& job, const Step& step) {
  const api::StepView view = api::step_view(cluster, job, step);
  StepRow row{.number = step.number,
              .name = step.name,
              .phase = step.phase,
              .cause = step.cause,
              .cancelled_by = step.cancelled_by,
              .exit = step.exit,
              .note = step.note,
              .started = step.started,
              .ended = step.ended,
              .task_count = view.task_count,
              .cpu_count = view.cpu_count,
              .usage = step.usage};
  std::map<std::string, std::uint32_t> gpus;
  for (const api::StepShareView& part : view.shares) {
    row.nodes.push_back(part.share.node);
    row.memory += part.share.memory;
    for (const GpuAsk& ask : part.share.gpus) gpus[ask.model] += ask.count;
  }
  for (const auto& [model, count] : gpus) row.gpus.push_back({.model = model, .count = count});
  return row;
}

std::optional<HistoryRow> ended_row(const Cluster& cluster, const Event& event, Payloads& payloads) {
  const auto* ended = std::get_if<JobEnded>(&event);
  if (ended == nullptr) return std::nullopt;
  HistoryRow row = history_row(cluster, cluster.jobs().at(ended->job), payloads);
  row.usage = ended->usage;
  if (ended->attempt == 0) row.started = Instant{};
  return row;
}

}  // namespace drover::control
