// The row of a pod. STATUS is the word that says most: what a container waits for or died of stands
// before the phase, what hinders the start before that, and a deletion before all.
#include <algorithm>
#include <optional>
#include <set>

#include "kube/object/columns/rows.h"
#include "kube/object/times.h"

namespace drover::kube {
namespace {

struct Summary {
  std::string status;
  std::int64_t ready = 0;
  std::int64_t total = 0;
  std::int64_t restarts = 0;
  std::optional<Instant> restarted;
};

// Restarts of one container, and when it last ended before one.
void count_restarts(Summary& summary, const Value& container) {
  summary.restarts += integer_at(container, "restartCount").value_or(0);
  const auto ended = time_of(text_at(container, "lastState.terminated.finishedAt"));
  if (ended && (!summary.restarted || *ended > *summary.restarted)) summary.restarted = ended;
}

std::string ending_word(const Value& terminated) {
  const std::string_view reason = text_at(terminated, "reason");
  if (!reason.empty()) return std::string(reason);
  const auto signal = integer_at(terminated, "signal").value_or(0);
  if (signal != 0) return "Signal:" + std::to_string(signal);
  return "ExitCode:" + std::to_string(integer_at(terminated, "exitCode").value_or(0));
}

std::set<std::string_view> sidecars_of(const Value& pod) {
  std::set<std::string_view> names;
  const Array* list = array_at(pod, "spec.initContainers");
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    if (text_at((*list)[i], "restartPolicy") == "Always") names.insert(text_at((*list)[i], "name"));
  }
  return names;
}

bool has_condition(const Value& pod, std::string_view type) {
  const Array* list = array_at(pod, "status.conditions");
  return list != nullptr && std::ranges::any_of(*list, [type](const Value& one) {
           return text_at(one, "type") == type && text_at(one, "status") == "True";
         });
}

// What keeps an init container from being over: "Init:0/2", "Init:Error"; "" it is over.
std::string init_word(const Value& container, bool sidecar, std::size_t number, std::size_t count) {
  const Value* terminated = at(container, "state.terminated");
  if (terminated != nullptr) {
    if (integer_at(*terminated, "exitCode").value_or(0) == 0) return {};
    return "Init:" + ending_word(*terminated);
  }
  if (sidecar && flag_at(container, "started")) return {};
  const std::string_view waits = text_at(container, "state.waiting.reason");
  if (!waits.empty() && waits != "PodInitializing") return "Init:" + std::string(waits);
  return "Init:" + std::to_string(number) + "/" + std::to_string(count);
}

// Whether an init container isn't over yet, which is then what the pod is doing.
bool read_init(Summary& summary, Summary& of_sidecars, const Value& pod) {
  const std::set<std::string_view> sidecars = sidecars_of(pod);
  summary.total += static_cast<std::int64_t>(sidecars.size());
  const Array* list = array_at(pod, "status.initContainerStatuses");
  const Array* wanted = array_at(pod, "spec.initContainers");
  if (list == nullptr) return false;
  const std::size_t count = wanted == nullptr ? list->size() : wanted->size();
  for (std::size_t i = 0; i < list->size(); ++i) {
    const Value& one = (*list)[i];
    const bool sidecar = sidecars.contains(text_at(one, "name"));
    count_restarts(summary, one);
    if (sidecar) count_restarts(of_sidecars, one);
    std::string word = init_word(one, sidecar, i, count);
    if (!word.empty()) {
      summary.status = std::move(word);
      return true;
    }
    const bool on = at(one, "state.terminated") == nullptr;
    if (sidecar && on && flag_at(one, "ready")) ++summary.ready;
  }
  return false;
}

void read_containers(Summary& summary, const Value& pod) {
  const Array* list = array_at(pod, "status.containerStatuses");
  if (list == nullptr) return;
  bool running = false;
  for (std::size_t i = list->size(); i-- > 0;) {
    const Value& one = (*list)[i];
    count_restarts(summary, one);
    const std::string_view waits = text_at(one, "state.waiting.reason");
    const Value* terminated = at(one, "state.terminated");
    if (!waits.empty()) {
      summary.status = waits;
    } else if (terminated != nullptr) {
      summary.status = ending_word(*terminated);
    } else if (flag_at(one, "ready") && at(one, "state.running") != nullptr) {
      running = true;
      ++summary.ready;
    }
  }
  if (summary.status == "Completed" && running) {
    summary.status = has_condition(pod, "Ready") ? "Running" : "NotReady";
  }
}

void read_deletion(Summary& summary, const Value& pod) {
  if (text_at(pod, "metadata.deletionTimestamp").empty()) return;
  const std::string_view phase = text_at(pod, "status.phase");
  if (text_at(pod, "status.reason") == "NodeLost") {
    summary.status = "Unknown";
  } else if (phase != "Succeeded" && phase != "Failed") {
    summary.status = "Terminating";
  }
}

Summary summary_of(const Value& pod) {
  Summary summary;
  const std::string_view reason = text_at(pod, "status.reason");
  summary.status = reason.empty() ? text_at(pod, "status.phase") : reason;
  const Array* containers = array_at(pod, "spec.containers");
  summary.total = containers == nullptr ? 0 : static_cast<std::int64_t>(containers->size());
  Summary of_sidecars;
  const bool initializing = read_init(summary, of_sidecars, pod);
  if (!initializing || has_condition(pod, "Initialized")) {
    // Restarts on the way to the start are of no interest any more.
    summary.restarts = of_sidecars.restarts;
    summary.restarted = of_sidecars.restarted;
    read_containers(summary, pod);
  }
  read_deletion(summary, pod);
  return summary;
}

std::string gates_of(const Value& pod) {
  const Array* gates = array_at(pod, "spec.readinessGates");
  if (gates == nullptr || gates->empty()) return "<none>";
  const auto met = std::ranges::count_if(*gates, [&pod](const Value& gate) {
    return has_condition(pod, text_at(gate, "conditionType"));
  });
  return std::to_string(met) + "/" + std::to_string(gates->size());
}

}  // namespace

Array pod_row(const Value& pod, Instant now) {
  const Summary summary = summary_of(pod);
  std::string restarts = std::to_string(summary.restarts);
  if (summary.restarts != 0 && summary.restarted) {
    restarts += " (" + duration_text(now - *summary.restarted) + " ago)";
  }
  return {name_of(pod),
          std::to_string(summary.ready) + "/" + std::to_string(summary.total),
          summary.status,
          restarts,
          age_of(pod, now),
          or_none(text_at(pod, "status.podIP")),
          or_none(text_at(pod, "spec.nodeName")),
          or_none(text_at(pod, "status.nominatedNodeName")),
          gates_of(pod)};
}

}  // namespace drover::kube
