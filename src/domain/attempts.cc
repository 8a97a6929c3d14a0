#include "domain/attempts.h"

#include <algorithm>

#include "domain/steps.h"

namespace drover {
namespace {

constexpr std::string_view kLeftoverReason = "Kill task failed";

bool ordered(Cause cause) {
  return cause == Cause::cancelled || cause == Cause::requeued || cause == Cause::preempted ||
         cause == Cause::deadline;
}

// The end is what was ordered, whatever the nodes' last words are. An allocation has no script that could
// end by itself: its client says how it ended.
bool by_order(const Job& job) {
  if (job.phase != Phase::ending) return false;
  if (ordered(job.cause)) return true;
  return job.allocation && (job.cause == Cause::completed || job.cause == Cause::failed ||
                            job.cause == Cause::time_limit);
}

void drain(Facts& facts, NodeId id, std::string reason, Instant now) {
  if (facts.cluster().node(id).drain) return;
  facts.add(NodeDrainChanged{.node = id, .drain = Drain{.reason = std::move(reason), .user = "root", .since = now}});
}

std::size_t nodes_holding(const Job& job) {
  return static_cast<std::size_t>(
      std::ranges::count_if(job.run->placement->shares, [&](const NodeShare& s) { return job.holds(s.node); }));
}

// How many nodes the job's partition has left to try.
bool nowhere_else(const Cluster& cluster, const Job& job, NodeId failed) {
  const Partition* partition = cluster.partition(cluster.text(job.partition));
  std::size_t nodes = cluster.nodes().size();
  if (partition != nullptr && !partition->nodes.empty()) nodes = partition->nodes.size();
  std::size_t avoided = 1;
  if (job.run->avoid) {
    avoided += job.run->avoid->size();
    if (std::ranges::binary_search(*job.run->avoid, failed)) --avoided;
  }
  return avoided >= nodes;
}

void requeue_launch(Facts& facts, JobId id, NodeId node, Instant now) {
  const Settings settings = facts.cluster().config().settings;
  const Job& job = *facts.cluster().job(id);
  const bool too_often = job.run->launch_failures + 1 >= settings.launch_failures;
  const bool hold = too_often || nowhere_else(facts.cluster(), job, node);
  facts.add(JobRequeued{.job = id, .begin = now, .hold = hold ? Hold::requeued : Hold::none, .launch_failed = true,
                        .at = now, .avoid = node});
  if (facts.cluster().node(node).launch_failures >= settings.launch_failures) {
    drain(facts, node, "launch failed " + std::to_string(settings.launch_failures) + " times in a row", now);
  }
}

void finish(Facts& facts, JobId id, const ShareEnd& end, Instant now) {
  const Job& job = *facts.cluster().job(id);
  const bool as_ordered = by_order(job);
  const Hold then_hold = job.hold;
  Closing closing = job.run->closing ? *job.run->closing : Closing{};
  if (closing.cause == Cause::none) {
    closing.cause = end.cause;
    closing.exit = end.exit;
    closing.note = end.note;
    closing.at = end.at;
  }
  const Cause cause = as_ordered ? job.cause : closing.cause;
  Usage usage = closing.usage;
  usage.user_cpu += end.usage.user_cpu;
  usage.system_cpu += end.usage.system_cpu;
  usage.peak_memory = std::max(usage.peak_memory, end.usage.peak_memory);
  facts.add(JobEnded{.job = id,
                     .attempt = job.run->attempt,
                     .cause = cause,
                     .exit = as_ordered && job.allocation ? job.run->exit : closing.exit,
                     .usage = usage,
                     .at = closing.at == Instant{} ? now : closing.at,
                     .by = cause == Cause::cancelled ? job.run->cancelled_by : 0,
                     .note = closing.note});
  if (facts.cluster().job(id)->allocation) return;  // its client has seen it start
  const bool again = facts.cluster().job(id)->requeue;
  const Instant later = now + facts.cluster().config().settings.requeue_delay;
  if (cause == Cause::requeued || (again && (cause == Cause::preempted || cause == Cause::node_failed))) {
    facts.add(JobRequeued{.job = id, .begin = later, .hold = then_hold, .at = now});
  } else if (cause == Cause::launch_failed) {
    requeue_launch(facts, id, closing.released.empty() ? end.node : closing.released.front(), now);
  }
}

}  // namespace

void end_share(Facts& facts, JobId id, const ShareEnd& end, Instant now) {
  end_step_parts(facts, id, end.node, end.cause, end.note, now);
  const Job& job = *facts.cluster().job(id);
  if (!end.leftover && nodes_holding(job) == 1) return finish(facts, id, end, now);
  if (job.phase != Phase::ending) facts.add(JobEnding{.job = id, .cause = end.cause, .at = now});
  facts.add(ShareEnded{.job = id,
                       .attempt = job.run->attempt,
                       .node = end.node,
                       .released = !end.leftover,
                       .cause = end.cause,
                       .exit = end.exit,
                       .usage = end.usage,
                       .note = end.note,
                       .at = end.at == Instant{} ? now : end.at});
  if (end.leftover) drain_for_leftover(facts, end.node, now);
}

void drain_for_leftover(Facts& facts, NodeId node, Instant now) {
  drain(facts, node, std::string(kLeftoverReason), now);
}

void on_started(Facts& facts, const ReportStarted& report, Instant now) {
  const Job* job = facts.cluster().job(report.job);
  if (job == nullptr || job->run->attempt != report.attempt || job->phase != Phase::placed) return;
  if (job->run->placement->shares.front().node != report.node) return;  // only the script's node says so
  facts.add(JobStarted{.job = report.job, .attempt = report.attempt, .at = now});
}

namespace {

// A job that ended while no controller looked ended then, not when it was heard of.
Instant ran_until(const Job& job, const ReportEnded& report, Instant now) {
  if (report.ran <= Duration{0}) return now;
  return std::min(now, job.run->started + report.ran);
}

}  // namespace

void on_ended(Facts& facts, const ReportEnded& report, Instant now) {
  const Job* job = facts.cluster().job(report.job);
  if (job == nullptr || job->run->attempt != report.attempt || !job->holds(report.node)) return;
  const bool told = job->run->closing && job->phase == Phase::ending && nodes_holding(*job) == 1 &&
                    job->run->placement->shares.size() == 1;
  if (report.leftover && told) return;  // we know that something is left there
  end_share(facts, report.job,
            {.node = report.node,
             .cause = report.cause,
             .exit = report.exit,
             .usage = told ? Usage{} : report.usage,
             .note = report.note,
             .leftover = report.leftover,
             .at = ran_until(*job, report, now)},
            now);
}

void judge_attempts(Facts& facts, NodeId id, const std::vector<HeldAttempt>& held, Instant now) {
  const std::set<JobId> jobs = facts.cluster().node(id).jobs;  // a copy: ends change it
  for (const JobId job_id : jobs) {
    const Job& job = *facts.cluster().job(job_id);
    const bool has_script = !job.allocation && job.run->placement->shares.front().node == id;
    const bool here = std::ranges::any_of(held, [&](const HeldAttempt& h) {
      return h.job == job_id && h.attempt == job.run->attempt && h.step == kBatchStep;
    });
    if (here || !has_script || job.phase == Phase::placed) continue;
    end_share(facts, job_id, {.node = id, .cause = Cause::node_failed, .note = "lost on its node"}, now);
  }
}

void fail_attempts(Facts& facts, NodeId id, const std::string& why, Instant now) {
  const std::set<JobId> jobs = facts.cluster().node(id).jobs;
  for (const JobId job_id : jobs) {
    end_share(facts, job_id, {.node = id, .cause = Cause::node_failed, .note = why}, now);
  }
}

}  // namespace drover
