// Where a pod may run: selectors, affinity, tolerations, the condition on GPUs.
#include "domain/condition.h"
#include "kube/object/metadata.h"
#include "kube/object/pod/check/checks.h"
#include "kube/select/names.h"
#include "kube/select/requirement.h"

namespace drover::kube {
namespace {

void check_expression(Problems& problems, const Value& one, const Path& path) {
  const auto requirement = requirement_from(one, Expressions::nodes);
  if (requirement) return;
  const std::string_view op = text_at(one, "operator");
  if (requirement.error().message.find("selector operator") != std::string::npos) {
    return problems.invalid(path / "operator", op, "not a valid selector operator");
  }
  problems.invalid(path, one, requirement.error().message);
}

void check_field(Problems& problems, const Value& one, const Path& path) {
  const std::string_view op = text_at(one, "operator");
  if (text_at(one, "key") != "metadata.name") {
    problems.invalid(path / "key", text_at(one, "key"), "not a valid field selector key");
  }
  if (op != "In" && op != "NotIn") {
    problems.invalid(path / "operator", op, "not a valid selector operator");
  }
  const Array* values = array_at(one, "values");
  if (values == nullptr || values->size() != 1) {
    problems.required(path / "values",
                      "must be only one value when `operator` is 'In' or 'NotIn' for node field "
                      "selector");
  }
}

template <class Check>
void each(const Value& holder, std::string_view name, const Path& path, Check check) {
  const Array* list = array_at(holder, name);
  if (list == nullptr) return;
  for (std::size_t i = 0; i < list->size(); ++i) check((*list)[i], (path / name)[i]);
}

void check_required(Problems& problems, const Value& required, const Path& path) {
  const Array* terms = array_at(required, "nodeSelectorTerms");
  if (terms == nullptr || terms->empty()) {
    return problems.required(path / "nodeSelectorTerms",
                             "must have at least one node selector term");
  }
  each(required, "nodeSelectorTerms", path, [&](const Value& term, const Path& at) {
    each(term, "matchExpressions", at,
         [&](const Value& one, const Path& where) { check_expression(problems, one, where); });
    each(term, "matchFields", at,
         [&](const Value& one, const Path& where) { check_field(problems, one, where); });
  });
}

void check_affinity(Problems& problems, const Value& affinity, const Path& path) {
  constexpr const char* kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
  constexpr const char* kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";
  for (const char* kind : {"nodeAffinity", "podAffinity", "podAntiAffinity"}) {
    const Value* one = member(affinity, kind);
    if (!is_given(one)) continue;
    const Value* required = member(*one, kRequired);
    if (is_given(member(*one, kPreferred))) {
      problems.warn(path / kind / kPreferred, "preferences have no effect, only requirements do");
    }
    if (required == nullptr || required->is_null()) continue;
    if (std::string_view(kind) == "nodeAffinity") {
      check_required(problems, *required, path / kind / kRequired);
    } else {
      check_pod_affinity(problems, *required, path / kind / kRequired);
    }
  }
}

void check_selector(Problems& problems, const Value& spec, const Path& path) {
  problems.add(check_labels(object_at(spec, "nodeSelector"), path / "nodeSelector"));
  const std::string_view node = text_at(spec, "nodeName");
  if (!node.empty()) problems.invalid(path / "nodeName", node, dns1123_subdomain(node));
}

}  // namespace

void check_toleration(Problems& problems, const Value& toleration, const Path& path) {
  const std::string_view key = text_at(toleration, "key");
  const std::string_view op = text_at(toleration, "operator");
  const std::string_view effect = text_at(toleration, "effect");
  if (!key.empty()) problems.invalid(path / "key", key, qualified_name(key));
  if (key.empty() && op != "Exists") {
    problems.invalid(path / "operator", op,
                     "operator must be Exists when `key` is empty, which means \"match all values "
                     "and all keys\"");
  }
  if (op == "Exists" && !text_at(toleration, "value").empty()) {
    problems.invalid(path / "operator", text_at(toleration, "value"),
                     "value must be empty when `operator` is 'Exists'");
  }
  check_word(problems, toleration, "operator", path, {"", "Equal", "Exists"});
  check_word(problems, toleration, "effect", path,
             {"", "NoSchedule", "PreferNoSchedule", "NoExecute"});
  if (member(toleration, "tolerationSeconds") != nullptr && effect != "NoExecute") {
    problems.invalid(path / "effect", effect,
                     "effect must be 'NoExecute' when `tolerationSeconds` is set");
  }
}

void check_placement(Problems& problems, const Value& pod) {
  const Value* spec = member(pod, "spec");
  if (spec == nullptr) return;
  const Path path("spec");
  check_selector(problems, *spec, path);
  if (const Value* affinity = member(*spec, "affinity")) {
    check_affinity(problems, *affinity, path / "affinity");
  }
  check_spread(problems, *spec, path);
  each(*spec, "tolerations", path,
       [&](const Value& one, const Path& at) { check_toleration(problems, one, at); });
  const std::string_view condition = annotation_of(pod, kGpuConditionAnnotation);
  const auto parsed = Condition::parse(condition);
  if (!parsed) {
    problems.invalid((Path("metadata") / "annotations").key(kGpuConditionAnnotation), condition,
                     parsed.error().message);
  }
}

}  // namespace drover::kube
