#include "kube/object/pod/pod_terms.h"

#include <string>
#include <utility>

#include "kube/select/label_selector.h"

namespace drover::kube {
namespace {

LabelOp op_of(Requirement::Op op) {
  switch (op) {
    case Requirement::Op::in:
      return LabelOp::in;
    case Requirement::Op::not_in:
      return LabelOp::not_in;
    case Requirement::Op::exists:
      return LabelOp::exists;
    case Requirement::Op::absent:
      return LabelOp::not_exists;
    case Requirement::Op::greater:
      return LabelOp::greater;
    case Requirement::Op::less:
      break;
  }
  return LabelOp::less;
}

// A selector that isn't there means nobody, an empty one everybody.
std::vector<LabelTerm> terms_of(const Value* selector) {
  const auto parsed = selector == nullptr || selector->is_null()
                          ? Result<LabelSelector>(Error{Errc::invalid, "none"})
                          : LabelSelector::from(*selector);
  if (!parsed) return {{}};
  std::vector<LabelTerm> terms;
  for (const Requirement& one : parsed->all()) {
    terms.push_back({.key = one.key, .op = op_of(one.op), .values = one.values});
  }
  return terms;
}

void add_keys(PodSelector& pods, const Value& pod, const Value& term, const char* list,
              LabelOp op) {
  const Array* keys = array_at(term, list);
  const Object* labels = object_at(pod, "metadata.labels");
  if (keys == nullptr || labels == nullptr) return;
  for (const Value& key : *keys) {
    const Value* value = labels->if_contains(text(&key));
    if (value == nullptr) continue;
    pods.labels.push_back(
        {.key = std::string(text(&key)), .op = op, .values = {std::string(text(value))}});
  }
}

PodSelector selector_of(const Value& pod, const Value& term) {
  PodSelector pods{.labels = terms_of(member(term, "labelSelector"))};
  add_keys(pods, pod, term, "matchLabelKeys", LabelOp::in);
  add_keys(pods, pod, term, "mismatchLabelKeys", LabelOp::not_in);
  if (const Array* spaces = array_at(term, "namespaces")) {
    for (const Value& space : *spaces) pods.spaces.emplace_back(text(&space));
  }
  const Value* by_labels = member(term, "namespaceSelector");
  pods.by_space_labels = by_labels != nullptr && !by_labels->is_null();
  if (pods.by_space_labels)
    pods.space_labels = terms_of(by_labels);
  else if (pods.spaces.empty())
    pods.spaces.emplace_back(text_at(pod, "metadata.namespace"));
  return pods;
}

std::vector<PodTerm> required(const Value& pod, const std::string& kind) {
  std::vector<PodTerm> terms;
  const Array* given =
      array_at(pod, "spec.affinity." + kind + ".requiredDuringSchedulingIgnoredDuringExecution");
  if (given == nullptr) return terms;
  for (const Value& term : *given) {
    terms.push_back(
        {.key = std::string(text_at(term, "topologyKey")), .pods = selector_of(pod, term)});
  }
  return terms;
}

}  // namespace

void add_pod_terms(Request& request, const Value& pod) {
  request.near = required(pod, "podAffinity");
  request.apart = required(pod, "podAntiAffinity");
  const Array* spread = array_at(pod, "spec.topologySpreadConstraints");
  if (spread == nullptr) return;
  for (const Value& one : *spread) {
    if (text_at(one, "whenUnsatisfiable") != "DoNotSchedule") continue;
    request.spread.push_back(
        {.key = std::string(text_at(one, "topologyKey")),
         .pods = selector_of(pod, one),
         .max_skew = static_cast<std::uint32_t>(integer_at(one, "maxSkew").value_or(1)),
         .min_domains = static_cast<std::uint32_t>(integer_at(one, "minDomains").value_or(1)),
         .all_nodes = text_at(one, "nodeAffinityPolicy") == "Ignore",
         .usable_nodes = text_at(one, "nodeTaintsPolicy") == "Honor"});
  }
}

}  // namespace drover::kube
