#include "kube/object/node/taints.h"

#include <algorithm>
#include <array>

#include "kube/object/times.h"
#include "kube/select/names.h"

namespace drover::kube {
namespace {

constexpr std::string_view kUnschedulable = "node.kubernetes.io/unschedulable";
constexpr std::string_view kUnreachable = "node.kubernetes.io/unreachable";

std::string_view word_of(TaintEffect effect) {
  switch (effect) {
    case TaintEffect::no_schedule:
      return "NoSchedule";
    case TaintEffect::prefer_no_schedule:
      return "PreferNoSchedule";
    case TaintEffect::no_execute:
      return "NoExecute";
    case TaintEffect::any:
      return "";
  }
  return "";
}

TaintEffect effect_of(std::string_view word) {
  if (word == "PreferNoSchedule") return TaintEffect::prefer_no_schedule;
  return word == "NoExecute" ? TaintEffect::no_execute : TaintEffect::no_schedule;
}

Object object_of(std::string_view key, const std::string& value, TaintEffect effect,
                 Instant since) {
  Object taint{{"key", key}};
  if (!value.empty()) taint["value"] = value;
  taint["effect"] = word_of(effect);
  if (since != Instant{}) taint["timeAdded"] = time_text(since);
  return taint;
}

// These follow from the node's state; a client sends them back, and they aren't his.
bool follows_from_state(std::string_view key) {
  return key == kUnschedulable || key == kUnreachable;
}

}  // namespace

Array taints_of(const Node& node) {
  Array taints;
  for (const Taint& taint : node.marks.taints) {
    taints.push_back(object_of(taint.key, taint.value, taint.effect, taint.since));
  }
  if (node.drain) {
    taints.push_back(object_of(kUnschedulable, "", TaintEffect::no_schedule, node.drain->since));
  }
  if (node.contact == Contact::lost) {
    for (const TaintEffect effect : {TaintEffect::no_schedule, TaintEffect::no_execute}) {
      taints.push_back(object_of(kUnreachable, "", effect, node.contact_since));
    }
  }
  return taints;
}

std::vector<Taint> marked_taints(const Node& node, const Value& object) {
  std::vector<Taint> taints;
  const Array* list = array_at(object, "spec.taints");
  if (list == nullptr) return taints;
  for (const Value& one : *list) {
    Taint taint{.key = std::string(text_at(one, "key")),
                .value = std::string(text_at(one, "value")),
                .effect = effect_of(text_at(one, "effect")),
                .since = time_of(text_at(one, "timeAdded")).value_or(Instant{})};
    if (follows_from_state(taint.key)) continue;
    for (const Taint& known : node.marks.taints) {
      const bool same = known.key == taint.key && known.effect == taint.effect;
      if (same && known.value == taint.value) taint.since = known.since;
    }
    taints.push_back(std::move(taint));
  }
  return taints;
}

void check_taints(Problems& problems, const Value& object) {
  const Array* list = array_at(object, "spec.taints");
  const Path path = Path("spec") / "taints";
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const Value& one = (*list)[i];
    const std::string_view key = text_at(one, "key");
    const std::string_view effect = text_at(one, "effect");
    problems.invalid(path[i] / "key", key, qualified_name(key));
    problems.invalid(path[i] / "value", text_at(one, "value"), label_value(text_at(one, "value")));
    if (effect.empty()) {
      problems.required(path[i] / "effect");
    } else if (effect != "NoSchedule" && effect != "PreferNoSchedule" && effect != "NoExecute") {
      problems.not_supported(path[i] / "effect", effect,
                             {"NoSchedule", "PreferNoSchedule", "NoExecute"});
    }
    for (std::size_t k = 0; k < i; ++k) {
      const Value& other = (*list)[k];
      if (text_at(other, "key") == key && text_at(other, "effect") == effect) {
        problems.duplicate(path[i], std::string(key) + ":" + std::string(effect));
      }
    }
  }
}

}  // namespace drover::kube
