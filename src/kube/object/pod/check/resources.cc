// Requests and limits of a container.
#include <algorithm>
#include <array>

#include "kube/json/print.h"
#include "kube/object/pod/check/checks.h"
#include "kube/object/pod/launch/field_ref.h"

namespace drover::kube {
namespace {

constexpr std::array<std::string_view, 4> kKnown{"cpu", "memory", "ephemeral-storage",
                                                 kGpuResource};

void check_amount(Problems& problems, std::string_view name, const Value& value, const Path& path) {
  if (std::ranges::find(kKnown, name) == kKnown.end()) {
    return problems.not_supported(path, name, {kKnown.begin(), kKnown.end()});
  }
  const auto amount = Quantity::from(value);
  if (!amount) return problems.invalid(path, value, amount.error().message);
  if (*amount < Quantity{}) {
    problems.invalid(path, value, "must be greater than or equal to 0");
  }
  if (name == kGpuResource && amount->milli() % 1000 != 0) {
    problems.invalid(path, value, "must be an integer");
  }
}

void check_list(Problems& problems, const ContainerPart& part, const char* which) {
  const Object* list = resource_list(*part.value, which);
  if (list == nullptr) return;
  for (const auto& entry : *list) {
    const Path path = part.path / "resources" / which;
    check_amount(problems, entry.key(), entry.value(), path.key(entry.key()));
  }
}

// GPUs can't be had beyond what was asked for.
void check_gpus(Problems& problems, const ContainerPart& part) {
  const Object* requests = resource_list(*part.value, "requests");
  if (requests == nullptr || !requests->contains(kGpuResource)) return;
  const Quantity asked = amount_of(*part.value, "requests", kGpuResource);
  const Quantity limit = amount_of(*part.value, "limits", kGpuResource);
  const Object* limits = resource_list(*part.value, "limits");
  if (limits == nullptr || !limits->contains(kGpuResource)) {
    problems.required(part.path / "resources" / "limits",
                      "Limit must be set for non overcommitable resources");
  } else if (!(asked == limit)) {
    problems.invalid(part.path / "resources" / "requests", asked.text(),
                     "must be equal to " + std::string(kGpuResource) + " limit of " + limit.text());
  }
}

}  // namespace

void check_resources(Problems& problems, const ContainerPart& part) {
  const Value* resources = member(*part.value, "resources");
  if (resources == nullptr) return;
  check_list(problems, part, "limits");
  check_list(problems, part, "requests");
  check_unserved(problems, *resources, "claims", part.path / "resources");
  const Object* limits = resource_list(*part.value, "limits");
  if (limits != nullptr && limits->contains("ephemeral-storage")) {
    problems.warn(part.path / "resources" / "limits",
                  "the limit of ephemeral-storage is not watched");
  }
  for (const std::string_view name : {"cpu", "memory", "ephemeral-storage"}) {
    if (limits == nullptr || !limits->contains(name)) continue;
    const Quantity request = amount_of(*part.value, "requests", name);
    const Quantity limit = amount_of(*part.value, "limits", name);
    if (request > limit) {
      problems.invalid(
          part.path / "resources" / "requests", request.text(),
          "must be less than or equal to " + std::string(name) + " limit of " + limit.text());
    }
  }
  check_gpus(problems, part);
}

}  // namespace drover::kube
