#include "kube/rest/kinds.h"

#include "kube/json/field_problems.h"
#include "kube/object/kinds/kinds.h"
#include "kube/object/metadata.h"
#include "kube/object/node/node_object.h"
#include "kube/object/pod/defaults.h"
#include "kube/object/pod/validate.h"
#include "kube/rest/accounts.h"
#include "kube/rest/kept.h"

namespace drover::kube {
namespace {

PodRules rules_of(const User& user) {
  return {.user = user.uid, .group = user.gid, .groups = user.groups, .privileged = user.admin};
}

// The class that the pod names, or the global default; a problem when there is none of that name.
std::optional<PriorityChoice> priority_of(const Context& context, const Value& pod, Problems& problems) {
  const std::string wanted(text_at(pod, "spec.priorityClassName"));
  const auto choice = [](const Entry& entry) {
    const Value value = entry.value();
    PriorityChoice chosen{.name = entry.name.name, .value = integer_at(value, "value").value_or(0)};
    if (const auto policy = text_at(value, "preemptionPolicy"); !policy.empty()) chosen.preemption = policy;
    return chosen;
  };
  if (!wanted.empty()) {
    const EntryPtr entry = context.store.get("priorityclasses.scheduling.k8s.io", {.space = "", .name = wanted});
    if (entry) return choice(*entry);
    if (wanted == "system-node-critical" || wanted == "system-cluster-critical") {
      return PriorityChoice{.name = wanted,
                            .value = wanted == "system-node-critical" ? 2'000'001'000 : 2'000'000'000};
    }
    problems.forbidden(Path("spec.priorityClassName"), "no PriorityClass with name " + wanted + " was found");
    return std::nullopt;
  }
  const auto is_default = [](const Entry& entry) { return entry.look().member("globalDefault").json() == "true"; };
  const auto defaults =
      context.store.list("priorityclasses.scheduling.k8s.io", std::nullopt, std::nullopt, 1, is_default);
  return defaults.entries.empty() ? std::nullopt : std::optional(choice(*defaults.entries.front()));
}

// What the cluster says of an object isn't its writers' to change.
void keep_status(const Value& was, Value& object) {
  if (const Value* status = member(was, "status"))
    object.as_object()["status"] = *status;
  else
    object.as_object().erase("status");
}

Judgement judged(Problems problems) {
  Judgement judgement;
  for (const std::string& text : problems.warnings()) judgement.warnings.push_back(warning_header(text));
  judgement.problems = std::move(problems);
  return judgement;
}

}  // namespace

Judgement admit_new(const Context& context, const Ask& ask, Value& object) {
  if (ask.resource().name == "pods") {
    Problems problems;
    const auto priority = priority_of(context, object, problems);
    const PodRules rules = rules_of(ask.user);
    default_pod(object, rules, priority);
    mount_account(context, ask.route.space.value_or(""), object);
    problems.add(validate_pod(object, rules));
    object.as_object().erase("status");
    return judged(std::move(problems));
  }
  const KindRules* rules = kind_rules(ask.resource().kind);
  CHECK(rules != nullptr);
  fill_defaults(*rules, object);
  return judged(check_object(*rules, object));
}

Judgement admit_change(const Ask& ask, const Value& was, Value& object) {
  if (ask.resource().name == "pods") {
    keep_status(was, object);
    Problems problems = check_metadata_update(was, object, NameRule::dns_subdomain);
    problems.add(validate_pod_update(was, object));
    return judged(std::move(problems));
  }
  if (ask.resource().name == "nodes") {
    keep_status(was, object);
    return judged(check_node_update(was, object));
  }
  const KindRules* rules = kind_rules(ask.resource().kind);
  CHECK(rules != nullptr);
  fill_defaults(*rules, object);
  return judged(check_object_update(*rules, was, object));
}

}  // namespace drover::kube
