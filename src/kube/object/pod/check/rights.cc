// What a pod may do on its node beside computing: users, capabilities, the host's own things.
#include <algorithm>

#include "kube/object/pod/check/checks.h"

namespace drover::kube {
namespace {

bool is_group_of(const PodRules& rules, std::int64_t group) {
  return group == rules.group || std::ranges::find(rules.groups, group) != rules.groups.end();
}

void check_ids(Problems& problems, const Value& security, const Path& path, const PodRules& rules) {
  for (const char* field : {"runAsUser", "runAsGroup", "fsGroup"}) {
    const Value* value = member(security, field);
    if (value == nullptr || value->is_null()) continue;
    const auto id = integer(value);
    if (!id || *id < 0 || *id > 2147483647) {
      problems.invalid(path / field, *value, "must be between 0 and 2147483647, inclusive");
      continue;
    }
    if (rules.privileged) continue;
    const bool user = std::string_view(field) == "runAsUser";
    if (user && *id != rules.user) {
      problems.forbidden(path / field,
                         "you may run as your own user " + std::to_string(rules.user) + " only");
    } else if (!user && !is_group_of(rules, *id)) {
      problems.forbidden(path / field, "you aren't a member of that group");
    }
  }
  const Array* groups = array_at(security, "supplementalGroups");
  for (std::size_t i = 0; groups != nullptr && i < groups->size(); ++i) {
    const auto id = integer(&(*groups)[i]);
    if (!rules.privileged && !(id && is_group_of(rules, *id))) {
      problems.forbidden((path / "supplementalGroups")[i], "you aren't a member of that group");
    }
  }
  if (flag_at(security, "runAsNonRoot") && integer_at(security, "runAsUser") == 0) {
    problems.invalid(path / "runAsUser", *member(security, "runAsUser"),
                     "must not be 0 when `runAsNonRoot` is true");
  }
}

// Profiles of the kernel's guards: every container has the runtime's, and no other can be had.
void check_profiles(Problems& problems, const Value& security, const Path& path) {
  for (const char* field : {"seccompProfile", "appArmorProfile"}) {
    const Value* profile = member(security, field);
    if (!is_given(profile) || text_at(*profile, "type") == "RuntimeDefault") continue;
    problems.forbidden(path / field, "drover serves RuntimeDefault only");
  }
  for (const char* field : {"seLinuxOptions", "windowsOptions", "sysctls"}) {
    check_unserved(problems, security, field, path);
  }
  check_word(problems, security, "procMount", path, {"Default"});
  check_word(problems, security, "supplementalGroupsPolicy", path, {"Merge"});
}

void check_container(Problems& problems, const ContainerPart& part, const PodRules& rules) {
  const Value* security = member(*part.value, "securityContext");
  if (security == nullptr) return;
  const Path path = part.path / "securityContext";
  check_ids(problems, *security, path, rules);
  check_profiles(problems, *security, path);
  const bool privileged = flag_at(*security, "privileged");
  const Value* gain = member(*security, "allowPrivilegeEscalation");
  const bool never = gain != nullptr && gain->is_bool() && !gain->get_bool();
  if (privileged && never) {
    problems.invalid(path, *security,
                     "cannot set `allowPrivilegeEscalation` to false and `privileged` to true");
  }
  if (rules.privileged) return;
  constexpr const char* kWhy = "only administrators may";
  if (privileged) problems.forbidden(path / "privileged", kWhy);
  if (gain != nullptr && !never && !gain->is_null()) {
    problems.forbidden(path / "allowPrivilegeEscalation", kWhy);
  }
  const Array* added = array_at(*security, "capabilities.add");
  if (added != nullptr && !added->empty()) {
    problems.forbidden(path / "capabilities" / "add", kWhy);
  }
}

}  // namespace

void check_rights(Problems& problems, const Value& pod, const PodRules& rules) {
  const Value* spec = member(pod, "spec");
  if (spec == nullptr) return;
  const Path path("spec");
  if (const Value* security = member(*spec, "securityContext")) {
    check_ids(problems, *security, path / "securityContext", rules);
    check_profiles(problems, *security, path / "securityContext");
  }
  for (const char* field : {"hostPID", "hostIPC"}) {
    if (!rules.privileged) {
      check_unserved(problems, *spec, field, path, "only administrators may");
    }
  }
  if (flag_at(*spec, "shareProcessNamespace") && flag_at(*spec, "hostPID")) {
    problems.invalid(path / "shareProcessNamespace", Value(true),
                     "ShareProcessNamespace and HostPID cannot both be enabled");
  }
  for (const ContainerPart& part : containers_of(pod)) check_container(problems, part, rules);
}

}  // namespace drover::kube
