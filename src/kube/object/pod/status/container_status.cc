#include "kube/object/pod/status/container_status.h"

#include "kube/object/times.h"

namespace drover::kube {
namespace {

void put(Object& object, std::string_view name, const std::string& value) {
  if (!value.empty()) object[name] = value;
}
void put(Object& object, std::string_view name, Instant at) {
  if (at != Instant{}) object[name] = time_text(at);
}

ContainerState lost_from_sight(ContainerState state, Instant at) {
  state.phase = ContainerPhase::terminated;
  state.reason = "ContainerStatusUnknown";
  state.message = "The container could not be located when the pod was terminated";
  state.exit = {.code = 137};
  state.finished = at;
  return state;
}

}  // namespace

Object container_state(const ContainerState& state, const std::string& container_id) {
  Object inner;
  switch (state.phase) {
    case ContainerPhase::waiting:
      put(inner, "reason", state.reason);
      put(inner, "message", state.message);
      return {{"waiting", std::move(inner)}};
    case ContainerPhase::running:
      put(inner, "startedAt", state.started);
      return {{"running", std::move(inner)}};
    case ContainerPhase::terminated:
      break;
  }
  inner["exitCode"] = state.exit.signal > 0 ? 128 + state.exit.signal : state.exit.code;
  put(inner, "reason", state.reason);
  put(inner, "message", state.message);
  put(inner, "startedAt", state.started);
  put(inner, "finishedAt", state.finished);
  put(inner, "containerID", container_id);
  return {{"terminated", std::move(inner)}};
}

Array container_statuses(const PodStatus& status, bool init, bool ended, Instant at) {
  Array all;
  for (const ContainerStatus& one : status.containers) {
    if (one.init != init) continue;
    const bool lost = ended && one.state.phase != ContainerPhase::terminated;
    const ContainerState state = lost ? lost_from_sight(one.state, at) : one.state;
    const bool running = state.phase == ContainerPhase::running;
    Object object{{"name", one.name},
                  {"state", container_state(state, one.container_id)},
                  {"lastState", one.last ? container_state(*one.last, "") : Object{}},
                  // An init container that has done its work is ready.
                  {"ready", one.ready && !lost},
                  {"restartCount", std::int64_t{one.restarts}},
                  {"image", one.image},
                  {"imageID", one.image_id}};
    put(object, "containerID", one.container_id);
    object["started"] = running && one.started;
    all.push_back(std::move(object));
  }
  return all;
}

}  // namespace drover::kube
