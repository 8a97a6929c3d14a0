#include "kube/stream/container.h"

#include <algorithm>
#include <array>
#include <vector>

namespace drover::kube {
namespace {

std::string quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

std::vector<std::string_view> names(const Value& pod, std::string_view list) {
  std::vector<std::string_view> all;
  const Array* containers = array_at(pod, list);
  if (containers == nullptr) return all;
  for (const Value& container : *containers) all.push_back(text_at(container, "name"));
  return all;
}

std::string joined(const std::vector<std::string_view>& all) {
  std::string text;
  for (const std::string_view name : all) text.append(text.empty() ? "" : " ").append(name);
  return text;
}

const Value* status_of(const Value& pod, std::string_view container) {
  constexpr std::array<std::string_view, 3> kLists{"status.containerStatuses",
                                                   "status.initContainerStatuses",
                                                   "status.ephemeralContainerStatuses"};
  for (const std::string_view list : kLists) {
    const Array* statuses = array_at(pod, list);
    if (statuses == nullptr) continue;
    const auto* const found = std::ranges::find_if(
        *statuses, [&](const Value& status) { return text_at(status, "name") == container; });
    if (found != statuses->end()) return found;
  }
  return nullptr;
}

// As a kubelet puts it.
std::string waiting_words(std::string_view reason) {
  if (reason == "ErrImagePull") return "image can't be pulled";
  if (reason == "ImagePullBackOff") return "trying and failing to pull image";
  return std::string(reason.empty() ? "no logs yet" : reason);
}

}  // namespace

Result<std::string> chosen_container(const Value& pod, std::string_view asked) {
  const std::string name(text_at(pod, "metadata.name"));
  const auto containers = names(pod, "spec.containers");
  const auto init = names(pod, "spec.initContainers");
  const auto has = [&](std::string_view wanted) {
    const auto ephemeral = names(pod, "spec.ephemeralContainers");
    return std::ranges::count(containers, wanted) + std::ranges::count(init, wanted) +
               std::ranges::count(ephemeral, wanted) >
           0;
  };
  if (!asked.empty()) {
    if (has(asked)) return std::string(asked);
    return Error{Errc::invalid,
                 "container " + std::string(asked) + " is not valid for pod " + name};
  }
  const Value* annotations = at(pod, "metadata.annotations");
  const std::string_view preferred =
      annotations == nullptr
          ? ""
          : text(member(*annotations, "kubectl.kubernetes.io/default-container"));
  if (!preferred.empty() && has(preferred)) return std::string(preferred);
  if (containers.size() == 1) return std::string(containers.front());
  std::string why = "a container name must be specified for pod " + name;
  if (!containers.empty()) why += ", choose one of: [" + joined(containers) + "]";
  if (!init.empty()) why += " or one of the init containers: [" + joined(init) + "]";
  return Error{Errc::invalid, why};
}

std::string running_container(const Value& pod) {
  const auto containers = names(pod, "spec.containers");
  for (const std::string_view name : containers) {
    const Value* status = status_of(pod, name);
    if (status != nullptr && at(*status, "state.running") != nullptr) return std::string(name);
  }
  return containers.empty() ? std::string() : std::string(containers.front());
}

Status has_log(const Value& pod, std::string_view container, bool previous) {
  const std::string subject =
      "container " + quoted(container) + " in pod " + quoted(text_at(pod, "metadata.name"));
  const Value* status = status_of(pod, container);
  if (previous) {
    if (status != nullptr && at(*status, "lastState.terminated") != nullptr) return Done{};
    return Error{Errc::invalid, "previous terminated " + subject + " not found"};
  }
  if (status == nullptr) return Error{Errc::invalid, subject + " is not available"};
  if (at(*status, "state.running") != nullptr || at(*status, "state.terminated") != nullptr ||
      at(*status, "lastState.terminated") != nullptr) {
    return Done{};
  }
  const Value* waiting = at(*status, "state.waiting");
  if (waiting == nullptr)
    return Error{Errc::invalid, subject + " is waiting to start - no logs yet"};
  return Error{Errc::invalid,
               subject + " is waiting to start: " + waiting_words(text_at(*waiting, "reason"))};
}

}  // namespace drover::kube
