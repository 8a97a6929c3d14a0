#include "slurm/render/words.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "slurm/script/memory.h"
#include "slurm/script/signal.h"

namespace drover::slurm {
namespace {

struct StateNames {
  JobState state;
  std::string_view word;
  std::string_view code;
};
constexpr std::array kStates{StateNames{JobState::pending, "PENDING", "PD"},
                             StateNames{JobState::configuring, "CONFIGURING", "CF"},
                             StateNames{JobState::running, "RUNNING", "R"},
                             StateNames{JobState::completing, "COMPLETING", "CG"},
                             StateNames{JobState::completed, "COMPLETED", "CD"},
                             StateNames{JobState::failed, "FAILED", "F"},
                             StateNames{JobState::cancelled, "CANCELLED", "CA"},
                             StateNames{JobState::timeout, "TIMEOUT", "TO"},
                             StateNames{JobState::out_of_memory, "OUT_OF_MEMORY", "OOM"},
                             StateNames{JobState::node_fail, "NODE_FAIL", "NF"},
                             StateNames{JobState::preempted, "PREEMPTED", "PR"},
                             StateNames{JobState::deadline, "DEADLINE", "DL"},
                             StateNames{JobState::requeued, "REQUEUED", "RQ"}};

const StateNames& names_of(JobState state) { return kStates[static_cast<std::size_t>(state)]; }

JobState ended_state(Cause cause) {
  switch (cause) {
    case Cause::none:
      return JobState::completing;
    case Cause::completed:
      return JobState::completed;
    case Cause::failed:
      return JobState::failed;
    case Cause::cancelled:
      return JobState::cancelled;
    case Cause::time_limit:
      return JobState::timeout;
    case Cause::out_of_memory:
      return JobState::out_of_memory;
    case Cause::node_failed:
      return JobState::node_fail;
    case Cause::preempted:
      return JobState::preempted;
    case Cause::launch_failed:
      return JobState::failed;
    case Cause::deadline:
      return JobState::deadline;
    case Cause::requeued:
      return JobState::requeued;
    case Cause::unknown:
      return JobState::failed;
  }
  return JobState::failed;
}

std::string ended_reason(const api::JobView& job) {
  switch (job.cause) {
    case Cause::none:
    case Cause::completed:
    case Cause::cancelled:
    case Cause::requeued:
      return "None";
    case Cause::failed:
      if (job.exit.signal != 0) {
        return "RaisedSignal:" + std::to_string(job.exit.signal) + "(" + signal_title(job.exit.signal) + ")";
      }
      return "NonZeroExitCode";
    case Cause::time_limit:
      return "TimeLimit";
    case Cause::out_of_memory:
      return "OutOfMemory";
    case Cause::node_failed:
      return "NodeDown";
    case Cause::preempted:
      return "Preempted";
    case Cause::launch_failed:
      return "JobLaunchFailure";
    case Cause::deadline:
      return "DeadLine";
    case Cause::unknown:
      return "SystemFailure";
  }
  return "None";
}

}  // namespace

JobState job_state(Phase phase, Cause cause) {
  switch (phase) {
    case Phase::waiting:
      return JobState::pending;
    case Phase::placed:
      return JobState::configuring;
    case Phase::running:
      return JobState::running;
    case Phase::ending:
      return JobState::completing;
    case Phase::ended:
      return ended_state(cause);
  }
  return JobState::pending;
}

std::string_view state_word(JobState state) { return names_of(state).word; }
std::string_view state_code(JobState state) { return names_of(state).code; }

std::optional<JobState> state_of(std::string_view text) {
  for (const StateNames& names : kStates) {
    if (iequals(names.word, text) || iequals(names.code, text)) return names.state;
  }
  return std::nullopt;
}

std::vector<Phase> phases_of(JobState state) {
  switch (state) {
    case JobState::pending:
      return {Phase::waiting};
    case JobState::configuring:
      return {Phase::placed};
    case JobState::running:
      return {Phase::running};
    case JobState::completing:
      return {Phase::ending};
    case JobState::completed:
    case JobState::failed:
    case JobState::cancelled:
    case JobState::timeout:
    case JobState::out_of_memory:
    case JobState::node_fail:
    case JobState::preempted:
    case JobState::deadline:
    case JobState::requeued:
      return {Phase::ended};
  }
  return {};
}

std::string_view reason_word(Reason reason) {
  switch (reason) {
    case Reason::none:
      return "None";
    case Reason::priority:
      return "Priority";
    case Reason::resources:
      return "Resources";
    case Reason::held_by_user:
      return "JobHeldUser";
    case Reason::held_by_admin:
      return "JobHeldAdmin";
    case Reason::requeued_held:
      return "job requeued in held state";
    case Reason::begin_time:
      return "BeginTime";
    case Reason::dependency:
      return "Dependency";
    case Reason::dependency_never:
      return "DependencyNeverSatisfied";
    case Reason::array_limit:
      return "JobArrayTaskLimit";
    case Reason::node_not_available:
      return "ReqNodeNotAvail";
    case Reason::nodes_down:
      return "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority "
             "partitions";
    case Reason::partition_down:
      return "PartitionDown";
    case Reason::partition_time_limit:
      return "PartitionTimeLimit";
    case Reason::partition_node_limit:
      return "PartitionNodeLimit";
    case Reason::bad_constraints:
      return "BadConstraints";
    case Reason::launch_failed_held:
      return "launch failed requeued held";
    case Reason::deadline:
      return "DeadLine";
    case Reason::other_pods:
      return "OtherPods";  // Slurm has no word for it
  }
  return "None";
}

std::string reason_text(const api::JobView& job) {
  switch (job.phase) {
    case Phase::waiting:
      break;
    case Phase::placed:
    case Phase::running:
    case Phase::ending:
      return "None";
    case Phase::ended:
      return ended_reason(job);
  }
  if (job.reason == Reason::node_not_available && !job.note.empty()) {
    return "ReqNodeNotAvail, UnavailableNodes:" + job.note;
  }
  return std::string(reason_word(job.reason));
}

ExitStatus shown_exit(Cause cause, const ExitStatus& exit) {
  if (cause == Cause::out_of_memory) return {.code = 0, .signal = 125};
  if (cause == Cause::time_limit || cause == Cause::cancelled) return {};
  return exit;
}

std::string exit_text(const ExitStatus& exit) { return std::to_string(exit.code) + ":" + std::to_string(exit.signal); }

std::string exit_text(Cause cause, const ExitStatus& exit) { return exit_text(shown_exit(cause, exit)); }

std::string_view refusal_words(RefusalCode code) {
  switch (code) {
    case RefusalCode::invalid_request:
      return "Invalid job request";
    case RefusalCode::unknown_job:
      return "Invalid job id specified";
    case RefusalCode::already_ended:
      return "Job/step already completing or completed";
    case RefusalCode::not_waiting:
      return "Job is no longer pending execution";
    case RefusalCode::not_running:
      return "Job is pending execution";
    case RefusalCode::not_permitted:
      return "Access/permission denied";
    case RefusalCode::unknown_partition:
      return "Invalid partition name specified";
    case RefusalCode::no_default_partition:
      return "No partition specified or system default partition";
    case RefusalCode::unknown_node:
      return "Invalid node name specified";
    case RefusalCode::unknown_dependency:
      return "Job dependency problem";
    case RefusalCode::dependency_on_itself:
      return "Job dependency problem";
    case RefusalCode::invalid_array:
      return "Invalid job array specification";
    case RefusalCode::invalid_condition:
      return "Invalid feature specification";
    case RefusalCode::no_such_gpu:
      return "Requested node configuration is not available";
    case RefusalCode::too_many_gpus:
      return "Requested node configuration is not available";
    case RefusalCode::too_many_nodes:
      return "Node count specification invalid";
    case RefusalCode::no_node_fits:
      return "Requested node configuration is not available";
    case RefusalCode::not_requeueable:
      return "Requested operation is presently disabled";
    case RefusalCode::invalid_limit:
      return "Requested time limit is invalid (missing or exceeds some limit)";
    case RefusalCode::too_many_jobs:
      return "Slurm temporarily unable to accept job, sleeping and retrying";
    case RefusalCode::no_space:
      return "Slurm controller has no space left: no space on its disk";
    case RefusalCode::overloaded:
      return "Slurm temporarily unable to accept job, sleeping and retrying";
    case RefusalCode::unavailable:
      return "Unable to contact slurm controller (connect failure)";
    case RefusalCode::too_many_cpus:
    case RefusalCode::too_much_memory:
    case RefusalCode::too_little_disk:
    case RefusalCode::node_excluded:
      return "Requested node configuration is not available";
    case RefusalCode::no_such_feature:
      return "Invalid feature specification";
    case RefusalCode::node_closed:
    case RefusalCode::node_taken:
    case RefusalCode::gpus_busy:
    case RefusalCode::cpus_busy:
    case RefusalCode::memory_busy:
    case RefusalCode::step_busy:
      return "Requested nodes are busy";
    case RefusalCode::no_such_label:
    case RefusalCode::node_tainted:
    case RefusalCode::not_near:
    case RefusalCode::not_apart:
    case RefusalCode::kept_apart:
    case RefusalCode::not_spread:
      return "Requested node configuration is not available";
    case RefusalCode::unknown_document:
    case RefusalCode::document_exists:
    case RefusalCode::document_changed:
    case RefusalCode::document_in_use:
      return "Invalid argument";  // no Slurm command speaks of documents
    case RefusalCode::step_too_large:
      return "More processors requested than permitted";
  }
  return "Unspecified error";
}

std::string refusal_hint(const Refusal& refusal) {
  std::string hint;
  const auto add = [&hint](const std::string& text) {
    if (!hint.empty()) hint += "; ";
    hint += text;
  };
  if (!refusal.subject.empty()) add(printable(refusal.subject));
  for (const Amount& amount : refusal.amounts) {
    add(amount.name + ": " + std::to_string(amount.want) + " wanted, " + std::to_string(amount.have) + " there");
  }
  if (!refusal.nearest.empty()) {
    std::string nearest = "nearest request that fits: " + refusal.nearest;
    if (refusal.code == RefusalCode::too_many_gpus && !refusal.amounts.empty()) {
      // And in words that can be typed again.
      const std::string model = refusal.subject.empty() ? "" : printable(refusal.subject) + ":";
      nearest += " (--gres=gpu:" + model + std::to_string(refusal.amounts.front().have) + ")";
    }
    add(nearest);
  }
  return hint;
}

std::string print_tres(const Tres& tres) {
  std::string text;
  const auto add = [&text](const std::string& item) { text += (text.empty() ? "" : ",") + item; };
  if (tres.cpus > 0) add("cpu=" + std::to_string(tres.cpus));
  if (tres.memory_mib > 0) add("mem=" + print_memory_mib(tres.memory_mib));
  if (tres.nodes > 0) add("node=" + std::to_string(tres.nodes));
  if (tres.billing > 0) add("billing=" + std::to_string(tres.billing));
  if (tres.gpus > 0) add("gres/gpu=" + std::to_string(tres.gpus));
  return text;
}

std::string print_tres_sorted(const Tres& tres) {
  const std::string text = print_tres(tres);
  auto items = split(text, ',');
  std::ranges::sort(items);
  std::string sorted;
  for (const std::string_view item : items) sorted.append(sorted.empty() ? "" : ",").append(item);
  return sorted;
}

std::string gpu_asks_text(std::span<const GpuAsk> asks) {
  std::string text;
  for (const GpuAsk& ask : asks) {
    text += text.empty() ? "gres/gpu:" : ",gres/gpu:";
    if (!ask.model.empty()) text += ask.model + ":";
    text += std::to_string(ask.count);
  }
  return text;
}

std::uint64_t gpu_total(std::span<const GpuAsk> asks) {
  std::uint64_t total = 0;
  for (const GpuAsk& ask : asks) total += ask.count;
  return total;
}

std::string dependency_text(const Dependency& dependency) {
  const auto kind_word = [](DependencyKind kind) -> std::string {
    switch (kind) {
      case DependencyKind::after:
        return "after";
      case DependencyKind::after_any:
        return "afterany";
      case DependencyKind::after_ok:
        return "afterok";
      case DependencyKind::after_not_ok:
        return "afternotok";
      case DependencyKind::after_corr:
        return "aftercorr";
      case DependencyKind::singleton:
        return "singleton";
    }
    return "";
  };
  std::string text;
  for (const DependencyTerm& term : dependency.terms) {
    if (!text.empty()) text += dependency.any ? "?" : ",";
    text += kind_word(term.kind);
    if (term.kind != DependencyKind::singleton) {
      text += ":" + std::to_string(term.job.value());
      if (term.task != kNoTask) text += "_" + std::to_string(term.task);
      if (term.delay.count() > 0) {
        text += "+" + std::to_string(std::chrono::duration_cast<minutes>(term.delay).count());
      }
    }
    text += dependency.never ? "(failed)" : "(unfulfilled)";
  }
  return text;
}

}  // namespace drover::slurm
