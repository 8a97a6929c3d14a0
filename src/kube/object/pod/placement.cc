#include "kube/object/pod/placement.h"

#include <array>
#include <utility>

#include "kube/object/pod/parts.h"

namespace drover::kube {
namespace {

constexpr const char* kHostName = "kubernetes.io/hostname";
constexpr std::array<std::pair<std::string_view, LabelOp>, 6> kOps{{
    {"In", LabelOp::in},
    {"NotIn", LabelOp::not_in},
    {"Exists", LabelOp::exists},
    {"DoesNotExist", LabelOp::not_exists},
    {"Gt", LabelOp::greater},
    {"Lt", LabelOp::less},
}};

LabelTerm term_of(const Value& expression, std::string key) {
  LabelTerm term{.key = std::move(key)};
  for (const auto& [word, op] : kOps) {
    if (text_at(expression, "operator") == word) term.op = op;
  }
  if (const Array* values = array_at(expression, "values")) {
    for (const Value& value : *values) term.values.emplace_back(text(&value));
  }
  return term;
}

// What holds in every alternative.
std::vector<LabelTerm> common_terms(const Value& pod) {
  std::vector<LabelTerm> terms;
  if (const Object* selector = object_at(pod, "spec.nodeSelector")) {
    for (const auto& entry : *selector) {
      terms.push_back({.key = std::string(std::string_view(entry.key())),
                       .values = {std::string(text(&entry.value()))}});
    }
  }
  const std::string_view node = text_at(pod, "spec.nodeName");
  if (!node.empty()) terms.push_back({.key = kHostName, .values = {std::string(node)}});
  return terms;
}

TaintEffect effect_of(std::string_view word) {
  if (word == "NoSchedule") return TaintEffect::no_schedule;
  if (word == "PreferNoSchedule") return TaintEffect::prefer_no_schedule;
  return word == "NoExecute" ? TaintEffect::no_execute : TaintEffect::any;
}

}  // namespace

std::vector<LabelTerms> label_terms_of(const Value& pod) {
  const std::vector<LabelTerm> common = common_terms(pod);
  const Value* required =
      at(pod, "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution");
  const Array* terms = required == nullptr ? nullptr : array_at(*required, "nodeSelectorTerms");
  std::vector<LabelTerms> alternatives;
  if (terms == nullptr) {
    if (!common.empty()) alternatives.push_back({.all = common});
    return alternatives;
  }
  for (const Value& term : *terms) {
    LabelTerms own;
    if (const Array* expressions = array_at(term, "matchExpressions")) {
      for (const Value& one : *expressions) {
        own.all.push_back(term_of(one, std::string(text_at(one, "key"))));
      }
    }
    if (const Array* fields = array_at(term, "matchFields")) {
      for (const Value& one : *fields) own.all.push_back(term_of(one, kHostName));
    }
    if (own.all.empty()) continue;  // an empty term selects no node
    own.all.insert(own.all.end(), common.begin(), common.end());
    alternatives.push_back(std::move(own));
  }
  return alternatives;
}

std::vector<Toleration> tolerations_of(const Value& pod) {
  std::vector<Toleration> all;
  if (const Array* tolerations = array_at(pod, "spec.tolerations")) {
    for (const Value& one : *tolerations) {
      all.push_back({.key = std::string(text_at(one, "key")),
                     .value = std::string(text_at(one, "value")),
                     .exists = text_at(one, "operator") == "Exists",
                     .effect = effect_of(text_at(one, "effect"))});
    }
  }
  if (!text_at(pod, "spec.nodeName").empty()) {
    all.push_back({.exists = true, .effect = TaintEffect::no_schedule});
  }
  return all;
}

}  // namespace drover::kube
