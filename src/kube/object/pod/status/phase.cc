#include "kube/object/pod/status/phase.h"

#include <algorithm>

namespace drover::kube {
namespace {

struct Count {
  int waiting = 0;
  int running = 0;
  int stopped = 0;
  int succeeded = 0;
};

Count count_of(const PodStatus& status) {
  Count count;
  for (const ContainerStatus& one : status.containers) {
    if (one.init) continue;
    switch (one.state.phase) {
      case ContainerPhase::running:
        ++count.running;
        break;
      case ContainerPhase::waiting:
        // One that will be started again has stopped, it isn't new.
        ++(one.last ? count.stopped : count.waiting);
        break;
      case ContainerPhase::terminated:
        ++count.stopped;
        if (one.state.exit == ExitStatus{}) ++count.succeeded;
        break;
    }
  }
  return count;
}

bool init_failed(const PodStatus& status) {
  return std::ranges::any_of(status.containers, [](const ContainerStatus& one) {
    return one.init && one.state.phase == ContainerPhase::terminated &&
           !(one.state.exit == ExitStatus{});
  });
}

std::string_view live_phase(const PodStatus& status, std::string_view restart_policy) {
  if (!status.initialized) {
    return restart_policy == "Never" && init_failed(status) ? "Failed" : "Pending";
  }
  const Count count = count_of(status);
  if (count.waiting > 0) return "Pending";
  if (count.running > 0) return "Running";
  if (count.stopped == 0) return "Pending";
  if (restart_policy == "Always") return "Running";
  if (count.stopped == count.succeeded) return "Succeeded";
  return restart_policy == "Never" ? "Failed" : "Running";
}

}  // namespace

std::string_view phase_of(const Job& job, const PodStatus* status,
                          std::string_view restart_policy) {
  if (job.phase == Phase::ended) return job.cause == Cause::completed ? "Succeeded" : "Failed";
  if (job.phase == Phase::waiting || status == nullptr) return "Pending";
  if (!status->reason.empty()) return "Failed";  // DeadlineExceeded, Evicted: it will not run again
  return live_phase(*status, restart_policy);
}

std::string_view end_reason(Cause cause) {
  switch (cause) {
    case Cause::time_limit:
    case Cause::deadline:
      return "DeadlineExceeded";
    case Cause::node_failed:
      return "NodeLost";
    case Cause::preempted:
      return "Preempting";
    case Cause::launch_failed:
      return "StartError";
    case Cause::unknown:
      return "ContainerStatusUnknown";
    case Cause::none:
    case Cause::completed:
    case Cause::failed:
    case Cause::cancelled:
    case Cause::out_of_memory:
    case Cause::requeued:
      return "";
  }
  return "";
}

}  // namespace drover::kube
