#include "kube/object/pod/validate.h"

#include <array>

#include "base/text.h"
#include "kube/object/metadata.h"
#include "kube/object/pod/check/checks.h"
#include "kube/select/names.h"

namespace drover::kube {
namespace {

constexpr std::array<const char*, 9> kUnserved{
    "dnsConfig",        "ephemeralContainers", "readinessGates",    "resourceClaims",  "resources",
    "runtimeClassName", "schedulingGates",     "setHostnameAsFQDN", "hostnameOverride"};

// What other clusters act upon and this one doesn't: it changes nothing for the containers.
void warn_of_idle_fields(Problems& problems, const Value& spec, const Path& path) {
  struct Idle {
    const char* field;
    const char* text;
  };
  constexpr std::array kIdle{Idle{"imagePullSecrets", "images are pulled without credentials"},
                             Idle{"subdomain", "there is no cluster DNS in which it would show"}};
  for (const Idle& idle : kIdle) {
    if (is_given(member(spec, idle.field))) problems.warn(path / idle.field, idle.text);
  }
}

// Only a class gives a pod a priority, or whoever writes the largest number would be first.
void check_priority(Problems& problems, const Value& spec, const Path& path) {
  if (!text_at(spec, "priorityClassName").empty()) return;
  if (integer_at(spec, "priority").value_or(0) == 0) return;
  problems.forbidden(path / "priority", "it comes from the pod's priorityClassName alone");
}

void check_numbers(Problems& problems, const Value& spec, const Path& path) {
  check_least(problems, spec, "terminationGracePeriodSeconds", path, 0);
  check_least(problems, spec, "activeDeadlineSeconds", path, 1);
  const std::string_view name = text_at(spec, "hostname");
  if (!name.empty()) problems.invalid(path / "hostname", name, dns1123_label(name));
  const std::string_view account = text_at(spec, "serviceAccountName");
  if (!account.empty()) {
    problems.invalid(path / "serviceAccountName", account, dns1123_subdomain(account));
  }
}

void check_aliases(Problems& problems, const Value& spec, const Path& path) {
  const Array* aliases = array_at(spec, "hostAliases");
  for (std::size_t i = 0; aliases != nullptr && i < aliases->size(); ++i) {
    const Path field = (path / "hostAliases")[i];
    const std::string_view address = text_at((*aliases)[i], "ip");
    const bool plain = !address.empty() &&
                       address.find_first_not_of("0123456789abcdefABCDEF.:") == std::string::npos;
    if (!plain) problems.invalid(field / "ip", address, "must be a valid IP address");
    const Array* names = array_at((*aliases)[i], "hostnames");
    for (std::size_t k = 0; names != nullptr && k < names->size(); ++k) {
      const std::string_view name = text(&(*names)[k]);
      problems.invalid((field / "hostnames")[k], name, dns1123_subdomain(name));
    }
  }
}

void check_overhead(Problems& problems, const Value& spec, const Path& path) {
  const Object* overhead = object_at(spec, "overhead");
  if (overhead == nullptr) return;
  for (const auto& entry : *overhead) {
    const auto amount = Quantity::from(entry.value());
    if (!amount || *amount < Quantity{}) {
      problems.invalid((path / "overhead").key(entry.key()), entry.value(),
                       "must be an amount of at least 0");
    }
  }
}

void check_spec(Problems& problems, const Value& spec, const Path& path) {
  check_word(problems, spec, "restartPolicy", path, {"Always", "OnFailure", "Never"});
  check_word(problems, spec, "dnsPolicy", path,
             {"ClusterFirst", "ClusterFirstWithHostNet", "Default"});
  check_word(problems, spec, "preemptionPolicy", path, {"PreemptLowerPriority", "Never"});
  const std::string_view scheduler = text_at(spec, "schedulerName");
  if (scheduler != "default-scheduler" && scheduler != "drover") {
    problems.not_supported(path / "schedulerName", scheduler, {"default-scheduler", "drover"});
  }
  if (const Value* os = member(spec, "os")) {
    check_word(problems, *os, "name", path / "os", {"linux"});
  }
  const Value* host_users = member(spec, "hostUsers");
  if (host_users != nullptr && host_users->is_bool() && !host_users->get_bool()) {
    problems.forbidden(path / "hostUsers", "drover does not serve it");
  }
  for (const char* field : kUnserved) check_unserved(problems, spec, field, path);
  check_numbers(problems, spec, path);
  check_priority(problems, spec, path);
  check_aliases(problems, spec, path);
  check_overhead(problems, spec, path);
  warn_of_idle_fields(problems, spec, path);
}

}  // namespace

Problems validate_pod(const Value& pod, const PodRules& rules) {
  Problems problems = check_metadata(pod, NameRule::dns_subdomain);
  const Value* spec = member(pod, "spec");
  check_volumes(problems, pod, rules);
  check_containers(problems, pod);
  if (spec != nullptr) check_spec(problems, *spec, Path("spec"));
  check_placement(problems, pod);
  check_rights(problems, pod, rules);
  return problems;
}

}  // namespace drover::kube
