// What may change of a pod that is there.
#include <algorithm>

#include "kube/object/metadata.h"
#include "kube/object/pod/check/checks.h"
#include "kube/object/pod/validate.h"

namespace drover::kube {
namespace {

constexpr std::string_view kOnlyThese =
    "pod updates may not change fields other than `spec.containers[*].image`,"
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only "
    "additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set "
    "to 1 if it was previously negative)";

// The spec without all that may change.
Value rest_of(const Value& pod) {
  const Value* spec = member(pod, "spec");
  if (spec == nullptr || !spec->is_object()) return Object{};
  Object rest = spec->get_object();
  for (const char* free : {"activeDeadlineSeconds", "tolerations"}) rest.erase(free);
  for (const char* list : {"initContainers", "containers"}) {
    Value* containers = rest.if_contains(list);
    if (containers == nullptr || !containers->is_array()) continue;
    for (Value& one : containers->get_array()) {
      if (Object* container = one.if_object()) container->erase("image");
    }
  }
  return rest;
}

void check_deadline(Problems& problems, const Value& was, const Value& now) {
  const auto old = integer_at(was, "spec.activeDeadlineSeconds");
  const Value* value = at(now, "spec.activeDeadlineSeconds");
  const auto deadline = integer(value);
  const Path path = Path("spec") / "activeDeadlineSeconds";
  if (!old) return;
  if (!deadline) {
    problems.invalid(path, Value(nullptr), "must not update from a positive integer to nil value");
    return;
  }
  if (*deadline > *old) {
    problems.invalid(path, *value, "must be less than or equal to previous value");
  }
}

// The node has been given the pod as it was, and the job has been asked for.
void warn_of_late_changes(Problems& problems, const Value& was, const Value& now) {
  const bool placed = !text_at(was, "spec.nodeName").empty();
  const Value* old = at(was, "spec.tolerations");
  const Value* tolerations = at(now, "spec.tolerations");
  const bool more = tolerations != nullptr && !(old != nullptr && same(*old, *tolerations));
  if (more) {
    problems.warn(Path("spec") / "tolerations",
                  "the pod's place is sought, or found, with those it was made with");
  }
  if (!placed) return;
  const std::vector<ContainerPart> before = containers_of(was);
  const std::vector<ContainerPart> after = containers_of(now);
  for (std::size_t i = 0; i < after.size() && i < before.size(); ++i) {
    if (text_at(*before[i].value, "image") == text_at(*after[i].value, "image")) continue;
    problems.warn(after[i].path / "image",
                  "a pod that has its node keeps the image it was given with");
  }
  if (integer_at(was, "spec.activeDeadlineSeconds") !=
      integer_at(now, "spec.activeDeadlineSeconds")) {
    problems.warn(Path("spec") / "activeDeadlineSeconds",
                  "a pod that has its node keeps the deadline it was given with");
  }
}

void check_images(Problems& problems, const Value& now) {
  for (const ContainerPart& part : containers_of(now)) {
    if (text_at(*part.value, "image").empty()) problems.required(part.path / "image");
  }
}

void check_tolerations(Problems& problems, const Value& was, const Value& now) {
  const Array* old = array_at(was, "spec.tolerations");
  const Array* tolerations = array_at(now, "spec.tolerations");
  const Path path = Path("spec") / "tolerations";
  const auto has = [tolerations](const Value& one) {
    return tolerations != nullptr && std::ranges::any_of(*tolerations, [&one](const Value& other) {
             return same(one, other);
           });
  };
  if (old != nullptr && !std::ranges::all_of(*old, has)) {
    problems.forbidden(path,
                       "existing toleration can not be modified except its tolerationSeconds");
  }
  for (std::size_t i = 0; tolerations != nullptr && i < tolerations->size(); ++i) {
    check_toleration(problems, (*tolerations)[i], path[i]);
  }
}

// The job has been asked for with it.
void check_condition(Problems& problems, const Value& was, const Value& now) {
  if (annotation_of(was, kGpuConditionAnnotation) == annotation_of(now, kGpuConditionAnnotation)) {
    return;
  }
  problems.forbidden((Path("metadata") / "annotations").key(kGpuConditionAnnotation),
                     "it can't be changed once the pod is there");
}

}  // namespace

Problems validate_pod_update(const Value& was, const Value& now) {
  Problems problems = check_metadata_update(was, now, NameRule::dns_subdomain);
  check_deadline(problems, was, now);
  check_tolerations(problems, was, now);
  check_images(problems, now);
  check_condition(problems, was, now);
  warn_of_late_changes(problems, was, now);
  if (!same(rest_of(was), rest_of(now))) problems.forbidden(Path("spec"), kOnlyThese);
  return problems;
}

}  // namespace drover::kube
