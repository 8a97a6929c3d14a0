#include "kube/object/pod/resources.h"

#include <algorithm>
#include <limits>

#include "kube/object/pod/parts.h"

namespace drover::kube {
namespace {

std::int64_t sum(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  return a > kMost - b ? kMost : a + b;
}

PodNeeds operator+(const PodNeeds& a, const PodNeeds& b) {
  return {.cpu_milli = sum(a.cpu_milli, b.cpu_milli),
          .memory = sum(a.memory, b.memory),
          .disk = sum(a.disk, b.disk),
          .gpus = sum(a.gpus, b.gpus)};
}

PodNeeds larger(const PodNeeds& a, const PodNeeds& b) {
  return {.cpu_milli = std::max(a.cpu_milli, b.cpu_milli),
          .memory = std::max(a.memory, b.memory),
          .disk = std::max(a.disk, b.disk),
          .gpus = std::max(a.gpus, b.gpus)};
}

PodNeeds requests_of(const Value& container) {
  const auto asked = [&container](std::string_view resource) {
    return amount_of(container, "requests", resource);
  };
  const auto least_zero = [](std::int64_t amount) { return std::max<std::int64_t>(0, amount); };
  return {.cpu_milli = least_zero(asked("cpu").milli()),
          .memory = least_zero(asked("memory").units()),
          .disk = least_zero(asked("ephemeral-storage").units()),
          .gpus = least_zero(asked(kGpuResource).units())};
}

PodNeeds overhead_of(const Value& pod) {
  const Value* overhead = at(pod, "spec.overhead");
  if (overhead == nullptr) return {};
  return requests_of(Object{{"resources", Object{{"requests", *overhead}}}});
}

}  // namespace

PodNeeds needs_of(const Value& pod) {
  PodNeeds running;
  PodNeeds sidecars;
  PodNeeds starting;
  for (const ContainerPart& part : containers_of(pod)) {
    const PodNeeds own = requests_of(*part.value);
    if (!part.init) {
      running = running + own;
    } else if (part.sidecar) {
      sidecars = sidecars + own;
      starting = larger(starting, sidecars);
    } else {
      starting = larger(starting, sidecars + own);
    }
  }
  return larger(running + sidecars, starting) + overhead_of(pod);
}

std::string_view qos_class(const Value& pod) {
  bool any = false;
  bool guaranteed = true;
  for (const ContainerPart& part : containers_of(pod)) {
    for (const char* resource : {"cpu", "memory"}) {
      const Quantity request = amount_of(*part.value, "requests", resource);
      const Quantity limit = amount_of(*part.value, "limits", resource);
      any = any || request > Quantity{} || limit > Quantity{};
      guaranteed = guaranteed && limit > Quantity{} && (request == limit || request == Quantity{});
    }
  }
  if (!any) return "BestEffort";
  return guaranteed ? "Guaranteed" : "Burstable";
}

}  // namespace drover::kube
