#include "kube/object/pod/status/conditions.h"

#include "base/text.h"
#include "kube/object/times.h"

namespace drover::kube {
namespace {

struct Condition {
  std::string_view type;
  std::string_view status = "True";
  Instant since;
  std::string_view reason;
  std::string message;
};

Object object_of(const Condition& c) {
  Object object{{"type", c.type},
                {"status", c.status},
                {"lastProbeTime", nullptr},
                {"lastTransitionTime", time_text(c.since)}};
  if (!c.reason.empty()) object["reason"] = c.reason;
  if (!c.message.empty()) object["message"] = c.message;
  return object;
}

// "containers with unready status: [main side]".
std::string named(std::string_view what, const PodStatus& status, bool init) {
  std::vector<std::string> names;
  for (const ContainerStatus& one : status.containers) {
    if (one.init == init && !one.ready) names.push_back(one.name);
  }
  return std::string(what) + ": [" + join(names, " ") + "]";
}

bool all_ready(const PodStatus& status) {
  bool any = false;
  for (const ContainerStatus& one : status.containers) {
    if (one.init) continue;
    any = true;
    if (!one.ready) return false;
  }
  return any;
}

// Whether the network and volumes are there: every container that is past waiting proves it.
bool may_start(const PodStatus& status) {
  for (const ContainerStatus& one : status.containers) {
    if (one.state.phase == ContainerPhase::running || one.last || !one.container_id.empty())
      return true;
  }
  return false;
}

Condition initialized(const PodStatus& status, std::string_view phase, Instant since) {
  Condition c{.type = "Initialized", .since = since};
  if (phase == "Succeeded") {
    c.reason = "PodCompleted";
  } else if (!status.initialized) {
    c.status = "False";
    c.reason = "ContainersNotInitialized";
    c.message = named("containers with incomplete status", status, true);
  }
  if (status.initialized && status.initialized_at != Instant{}) c.since = status.initialized_at;
  return c;
}

Condition readiness(std::string_view type, const Job& job, const PodStatus& status,
                    std::string_view phase, Instant since) {
  Condition c{.type = type, .status = "False", .since = since};
  if (job.node_lost) {
    c.status = "Unknown";
    c.reason = "NodeStatusUnknown";
    c.message = "the node doesn't answer; its containers may still be running";
  } else if (phase == "Succeeded") {
    c.reason = "PodCompleted";
  } else if (phase == "Failed") {
    c.reason = "PodFailed";
  } else if (all_ready(status)) {
    c.status = "True";
  } else {
    c.reason = "ContainersNotReady";
    c.message = named("containers with unready status", status, false);
  }
  return c;
}

}  // namespace

Array waiting_conditions(const PodView& view) {
  if (view.waits.empty()) return {};
  return {object_of({.type = "PodScheduled",
                     .status = "False",
                     .since = view.waits_since,
                     .reason = "Unschedulable",
                     .message = view.waits})};
}

Array placed_conditions(const Job& job, const PodStatus* status, std::string_view phase) {
  const Instant placed = job.run->started;
  Array all;
  if (status != nullptr) {
    const Instant taken = status->started != Instant{} ? status->started : placed;
    const Instant ready = status->ready_since != Instant{} ? status->ready_since : taken;
    const bool over = phase == "Succeeded" || phase == "Failed";
    all.push_back(object_of({.type = "PodReadyToStartContainers",
                             .status = !over && may_start(*status) ? "True" : "False",
                             .since = over ? ready : taken}));
    all.push_back(object_of(initialized(*status, phase, taken)));
    all.push_back(object_of(readiness("Ready", job, *status, phase, ready)));
    all.push_back(object_of(readiness("ContainersReady", job, *status, phase, ready)));
  }
  all.push_back(object_of({.type = "PodScheduled", .since = placed}));
  return all;
}

}  // namespace drover::kube
