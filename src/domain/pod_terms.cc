#include "domain/pod_terms.h"

#include <algorithm>

#include "domain/node_labels.h"

namespace drover {
namespace {

bool all_hold(const std::vector<LabelTerm>& terms, const Labels& labels) {
  return std::ranges::all_of(terms, [&](const LabelTerm& term) { return holds(term, labels); });
}

bool meant_space(const Cluster& cluster, const PodSelector& selector, const std::string& space) {
  if (std::ranges::find(selector.spaces, space) != selector.spaces.end()) return true;
  if (!selector.by_space_labels) return false;
  const Document* known =
      cluster.document({.kind = std::string(kSpaceKind), .space = "", .name = space});
  return all_hold(selector.space_labels,
                  known != nullptr && known->labels ? *known->labels : Labels{});
}

}  // namespace

bool selects(const Cluster& cluster, const PodSelector& selector, const PodIdentity& pod) {
  return pod.key != nullptr && all_hold(selector.labels, *pod.labels) &&
         meant_space(cluster, selector, pod.key->space);
}

std::vector<std::uint32_t> meant_by(const Cluster& cluster, const Job& job) {
  std::vector<std::uint32_t> numbers;
  const Selectors& all = cluster.selectors();
  const PodIdentity pod = all.size() > 0 ? cluster.pod_identity(job.id) : PodIdentity{};
  if (pod.key == nullptr) return numbers;
  const auto ask = [&](const std::vector<std::uint32_t>& asked) {
    std::ranges::copy_if(asked, std::back_inserter(numbers),
                         [&](std::uint32_t n) { return selects(cluster, all.at(n), pod); });
  };
  ask(all.apart());
  if (const Selectors::Numbers* own = all.of(job.shape)) {
    ask(own->near);
    ask(own->spread);
  }
  std::ranges::sort(numbers);
  const auto [first, last] = std::ranges::unique(numbers);
  numbers.erase(first, last);
  return numbers;
}

std::string text_of(const PodSelector& selector) {
  if (selector.labels.empty()) return "any label";
  std::string text;
  for (const LabelTerm& term : selector.labels) text += (text.empty() ? "" : ",") + text_of(term);
  return text;
}

std::optional<std::string> label_of(const Node& node, const std::string& key) {
  if (key == "kubernetes.io/hostname") return node.name();
  for (const auto* labels : {&node.marks.labels, &node.inventory.labels}) {
    const auto found = labels->find(key);
    if (found != labels->end()) return found->second;
  }
  const auto labels = labels_of(node);  // what is made from the inventory
  const auto found = labels.find(key);
  return found == labels.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace drover
