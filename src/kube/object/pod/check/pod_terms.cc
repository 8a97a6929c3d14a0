// What a pod says of other pods: affinity, anti-affinity and topology spread.
#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "kube/object/metadata.h"
#include "kube/object/pod/check/checks.h"
#include "kube/select/names.h"

namespace drover::kube {
namespace {

void check_requirement(Problems& problems, const Value& one, const Path& path) {
  const std::string_view op = text_at(one, "operator");
  const Array* values = array_at(one, "values");
  const bool none = values == nullptr || values->empty();
  if (op == "In" || op == "NotIn") {
    if (none)
      problems.required(path / "values", "must be specified when `operator` is 'In' or 'NotIn'");
  } else if (op == "Exists" || op == "DoesNotExist") {
    if (!none) {
      problems.forbidden(path / "values",
                         "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    }
  } else {
    problems.invalid(path / "operator", op, "not a valid selector operator");
  }
  problems.invalid(path / "key", text_at(one, "key"), qualified_name(text_at(one, "key")));
  for (std::size_t i = 0; !none && i < values->size(); ++i) {
    const std::string_view value = text(&(*values)[i]);
    problems.invalid((path / "values")[i], value, label_value(value));
  }
}

void check_selector(Problems& problems, const Value& term, const char* name, const Path& at) {
  const Value* selector = member(term, name);
  if (selector == nullptr || selector->is_null()) return;
  const Path path = at / name;
  problems.add(check_labels(object_at(*selector, "matchLabels"), path / "matchLabels"));
  const Array* expressions = array_at(*selector, "matchExpressions");
  for (std::size_t i = 0; expressions != nullptr && i < expressions->size(); ++i) {
    check_requirement(problems, (*expressions)[i], (path / "matchExpressions")[i]);
  }
}

void check_topology_key(Problems& problems, const Value& term, const Path& path) {
  const std::string_view key = text_at(term, "topologyKey");
  if (key.empty()) return problems.required(path / "topologyKey", "can not be empty");
  problems.invalid(path / "topologyKey", key, qualified_name(key));
}

void check_label_keys(Problems& problems, const Value& term, const char* name, const Path& path) {
  const Array* keys = array_at(term, name);
  if (keys == nullptr || keys->empty()) return;
  const Value* selector = member(term, "labelSelector");
  if (selector == nullptr || selector->is_null()) {
    return problems.forbidden(path / name, "must not be specified when labelSelector is not set");
  }
  for (std::size_t i = 0; i < keys->size(); ++i) {
    const std::string_view key = text(&(*keys)[i]);
    problems.invalid((path / name)[i], key, qualified_name(key));
  }
}

// A key can't be asked for twice in ways that may differ.
void check_no_overlap(Problems& problems, const Value& term, const Path& path) {
  const Array* match = array_at(term, "matchLabelKeys");
  const Array* mismatch = array_at(term, "mismatchLabelKeys");
  if (match == nullptr || mismatch == nullptr) return;
  for (std::size_t i = 0; i < match->size(); ++i) {
    const std::string_view key = text(&(*match)[i]);
    const bool both =
        std::ranges::any_of(*mismatch, [&](const Value& other) { return text(&other) == key; });
    if (both) {
      problems.invalid((path / "matchLabelKeys")[i], key,
                       "exists in both matchLabelKeys and mismatchLabelKeys");
    }
  }
}

void check_one_spread(Problems& problems, const Value& one, const Path& path) {
  const auto skew = integer_at(one, "maxSkew");
  constexpr std::int64_t kMost = 0x7FFFFFFF;  // an int32 in the API
  if (skew.value_or(0) <= 0 || *skew > kMost) {
    problems.invalid(path / "maxSkew", Value(skew.value_or(0)), "must be greater than zero");
  }
  check_topology_key(problems, one, path);
  const std::string_view action = text_at(one, "whenUnsatisfiable");
  if (action != "DoNotSchedule" && action != "ScheduleAnyway") {
    problems.not_supported(path / "whenUnsatisfiable", action, {"DoNotSchedule", "ScheduleAnyway"});
  }
  if (const auto domains = integer_at(one, "minDomains")) {
    if (*domains <= 0 || *domains > kMost) {
      problems.invalid(path / "minDomains", Value(*domains), "must be greater than zero");
    }
    if (action != "DoNotSchedule") {
      problems.invalid(
          path / "minDomains", Value(*domains),
          "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not " + std::string(action));
    }
  }
  check_word(problems, one, "nodeAffinityPolicy", path, {"Honor", "Ignore"});
  check_word(problems, one, "nodeTaintsPolicy", path, {"Honor", "Ignore"});
  check_label_keys(problems, one, "matchLabelKeys", path);
  check_selector(problems, one, "labelSelector", path);
  if (action == "ScheduleAnyway")
    problems.warn(path, "preferences have no effect, only requirements do");
}

}  // namespace

void check_pod_affinity(Problems& problems, const Value& terms, const Path& path) {
  const Array* list = terms.if_array();
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const Value& term = (*list)[i];
    check_selector(problems, term, "labelSelector", path[i]);
    check_selector(problems, term, "namespaceSelector", path[i]);
    const Array* spaces = array_at(term, "namespaces");
    for (std::size_t n = 0; spaces != nullptr && n < spaces->size(); ++n) {
      const std::string_view space = text(&(*spaces)[n]);
      problems.invalid(path[i] / "namespace", space, dns1123_label(space));
    }
    check_label_keys(problems, term, "matchLabelKeys", path[i]);
    check_label_keys(problems, term, "mismatchLabelKeys", path[i]);
    check_no_overlap(problems, term, path[i]);
    check_topology_key(problems, term, path[i]);
  }
  if (list != nullptr && list->size() > kMostPodTerms)
    problems.too_many(path, list->size(), kMostPodTerms);
}

void check_spread(Problems& problems, const Value& spec, const Path& path) {
  const Array* list = array_at(spec, "topologySpreadConstraints");
  if (list == nullptr) return;
  const Path at = path / "topologySpreadConstraints";
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const Value& one = (*list)[i];
    check_one_spread(problems, one, at[i]);
    const auto [known, fresh] =
        seen.emplace(text_at(one, "topologyKey"), text_at(one, "whenUnsatisfiable"));
    if (!fresh) {
      problems.duplicate(at[i] / "{topologyKey, whenUnsatisfiable}",
                         "{" + std::string(known->first) + ", " + std::string(known->second) + "}");
    }
  }
  if (list->size() > kMostPodTerms) problems.too_many(at, list->size(), kMostPodTerms);
}

}  // namespace drover::kube
