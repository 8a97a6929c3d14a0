#include "engine/vicinity.h"

#include <algorithm>
#include <limits>

#include "domain/node_labels.h"
#include "domain/pod_terms.h"

namespace drover::engine {
namespace {

bool has(const std::vector<std::uint32_t>& numbers, std::optional<std::uint32_t> number) {
  return number && std::ranges::binary_search(numbers, *number);
}

Refusal refused(RefusalCode code, const PodTerm& term, std::int64_t pods) {
  return {
      .code = code,
      .subject = text_of(term.pods) + " within its " + term.key,
      .amounts = {{.name = "pods", .have = pods, .want = code == RefusalCode::not_near ? 1 : 0}}};
}

}  // namespace

Vicinity::Vicinity(const Cluster& cluster, std::span<const NodeId> candidates,
                   const Request& request, std::vector<std::uint32_t> met)
    : request_{.near = request.near, .apart = request.apart, .spread = request.spread},
      met_(std::move(met)) {
  request_.labels = request.labels;
  request_.tolerations = request.tolerations;
  const std::size_t nodes = cluster.nodes().size();
  candidate_.resize(nodes);
  for (const NodeId node : candidates) candidate_[node.value() - 1] = true;
  labels_hold_.resize(nodes);
  described_.resize(nodes);
  verdicts_.resize(nodes);
  const auto start = [&](std::vector<Count>& counts, const std::string& key,
                         const PodSelector& pods) -> Count& {
    return counts.emplace_back(Count{.topology = place_of(key, nodes),
                                     .here = std::vector<std::uint32_t>(nodes),
                                     .own = has(met_, cluster.selectors().find(pods))});
  };
  for (const PodTerm& term : request_.near) start(near_, term.key, term.pods);
  for (const PodTerm& term : request_.apart) start(apart_, term.key, term.pods);
  for (const SpreadTerm& term : request_.spread)
    start(spread_, term.key, term.pods).counts.resize(nodes);
}

// With its nodes still to be described.
std::size_t Vicinity::place_of(const std::string& key, std::size_t nodes) {
  const auto known = std::ranges::find(topologies_, key, &Topology::key);
  if (known != topologies_.end()) return static_cast<std::size_t>(known - topologies_.begin());
  topologies_.push_back({.key = key, .values = {}, .at = std::vector<std::uint32_t>(nodes)});
  return topologies_.size() - 1;
}

std::size_t Vicinity::topology_of(const Cluster& cluster, const std::string& key) {
  const std::size_t before = topologies_.size();
  const std::size_t place = place_of(key, cluster.nodes().size());
  for (std::size_t node = 0; place == before && node < cluster.nodes().size(); ++node) {
    locate(topologies_[place], cluster.nodes()[node]);
  }
  return place;
}

void Vicinity::locate(Topology& topology, const Node& node) {
  const auto value = label_of(node, topology.key);
  const auto fresh = static_cast<std::uint32_t>(topology.values.size() + 1);
  topology.at[node.id.value() - 1] =
      value ? topology.values.try_emplace(*value, fresh).first->second : 0;
}

void Vicinity::describe(const Cluster& cluster, NodeId id) {
  const Node& node = cluster.node(id);
  labels_hold_[id.value() - 1] = labels_hold(request_, node);
  for (Topology& topology : topologies_) locate(topology, node);
}

void Vicinity::see(const Cluster& cluster, NodeId id, std::span<const JobId> planned,
                   std::uint64_t description) {
  stale_ = true;
  const std::size_t place = id.value() - 1;
  if (described_[place] != description) describe(cluster, id);
  described_[place] = description;
  const Node& node = cluster.node(id);
  const bool usable = node.open() && taint_against(request_, node) == nullptr;
  const bool in_all = std::ranges::all_of(
      spread_, [&](const Count& c) { return topologies_[c.topology].at[place] != 0; });
  for (std::size_t i = 0; i < spread_.size(); ++i) {
    const SpreadTerm& term = request_.spread[i];
    spread_[i].counts[place] = candidate_[place] && in_all &&
                               (term.all_nodes || labels_hold_[place]) &&
                               (!term.usable_nodes || usable);
  }
  for (auto* counts : {&near_, &apart_, &spread_, &against_}) {
    for (Count& one : *counts) one.here[place] = 0;
  }
  for (const JobId job : node.jobs) count(cluster, place, *cluster.job(job));
  for (const JobId job : planned) count(cluster, place, *cluster.job(job));
}

void Vicinity::see_all(const Cluster& cluster) {
  for (const Node& node : cluster.nodes()) see(cluster, node.id, {}, 1);
}

void Vicinity::count(const Cluster& cluster, std::size_t node, const Job& job) {
  const PodIdentity pod = cluster.pod_identity(job.id);
  if (pod.key == nullptr) return;
  const auto meant = [&](const auto& term) { return selects(cluster, term.pods, pod); };
  if (!near_.empty() && std::ranges::all_of(request_.near, meant)) {
    for (Count& one : near_) ++one.here[node];
  }
  for (std::size_t i = 0; i < apart_.size(); ++i) {
    if (meant(request_.apart[i])) ++apart_[i].here[node];
  }
  for (std::size_t i = 0; i < spread_.size() && job.phase != Phase::ending; ++i) {
    if (meant(request_.spread[i])) ++spread_[i].here[node];
  }
  const Selectors::Numbers* theirs = met_.empty() ? nullptr : cluster.selectors().of(job.shape);
  for (std::size_t i = 0; theirs != nullptr && i < theirs->apart.size(); ++i) {
    if (!has(met_, theirs->apart[i])) continue;
    const std::size_t topology = topology_of(cluster, cluster.request(job).apart[i].key);
    auto known = std::ranges::find(against_, topology, &Count::topology);
    if (known == against_.end()) {
      known = against_.insert(
          against_.end(),
          Count{.topology = topology, .here = std::vector<std::uint32_t>(verdicts_.size())});
    }
    ++known->here[node];
  }
}

void Vicinity::add(NodeId id) {
  stale_ = true;
  const std::size_t node = id.value() - 1;
  if (std::ranges::all_of(near_, &Count::own)) {
    for (Count& one : near_) ++one.here[node];
  }
  for (auto* counts : {&apart_, &spread_}) {
    for (Count& one : *counts) one.here[node] += one.own ? 1U : 0U;
  }
}

void Vicinity::add_up(Count& count) const {
  const Topology& topology = topologies_[count.topology];
  count.in.assign(topology.values.size() + 1, 0);
  for (std::size_t node = 0; node < count.here.size(); ++node) {
    if (count.counts.empty() || count.counts[node]) count.in[topology.at[node]] += count.here[node];
  }
  count.in[0] = 0;  // nodes without the label are in no domain
}

void Vicinity::find_least(Count& count, std::uint32_t min_domains) const {
  const Topology& topology = topologies_[count.topology];
  std::vector<bool> there(count.in.size());
  for (std::size_t node = 0; node < count.here.size(); ++node) {
    if (count.counts[node]) there[topology.at[node]] = true;
  }
  count.least = std::numeric_limits<std::int64_t>::max();
  std::uint32_t domains = 0;
  for (std::size_t value = 1; value < there.size(); ++value) {
    if (!there[value]) continue;
    ++domains;
    count.least = std::min<std::int64_t>(count.least, count.in[value]);
  }
  if (domains < std::max(1U, min_domains)) count.least = 0;
}

std::vector<NodeId> Vicinity::settle() {
  std::vector<NodeId> changed;
  if (!stale_) return changed;
  stale_ = false;
  for (auto* counts : {&near_, &apart_, &spread_, &against_}) {
    for (Count& one : *counts) add_up(one);
  }
  for (std::size_t i = 0; i < spread_.size(); ++i)
    find_least(spread_[i], request_.spread[i].min_domains);
  for (std::size_t node = 0; node < verdicts_.size(); ++node) {
    const Verdict verdict = judge(node);
    const bool other = (verdict.why == Why::nothing) != (verdicts_[node].why == Why::nothing);
    verdicts_[node] = verdict;
    if (other) changed.emplace_back(node + 1);
  }
  return changed;
}

// Where Kubernetes asks more than one thing, the same things in the same way: who is first of his
// kind needs nobody near him, if there is nobody anywhere whom his terms mean, and they mean
// himself.
Vicinity::Verdict Vicinity::judge(std::size_t node) const {
  for (std::uint32_t i = 0; i < apart_.size(); ++i) {
    if (const auto pods = in_domain(apart_[i], node))
      return {.why = Why::apart, .term = i, .amount = pods};
  }
  for (std::uint32_t i = 0; i < against_.size(); ++i) {
    if (const auto pods = in_domain(against_[i], node))
      return {.why = Why::against, .term = i, .amount = pods};
  }
  const auto nobody = [](const Count& c) {
    return std::ranges::all_of(c.in, [](std::uint32_t n) { return n == 0; });
  };
  const bool first = std::ranges::all_of(near_, [&](const Count& c) { return c.own && nobody(c); });
  for (std::uint32_t i = 0; i < near_.size(); ++i) {
    const bool in_any = topologies_[near_[i].topology].at[node] != 0;
    if (!in_any || (!first && in_domain(near_[i], node) == 0)) return {.why = Why::near, .term = i};
  }
  for (std::uint32_t i = 0; i < spread_.size(); ++i) {
    const std::int64_t skew =
        std::int64_t{in_domain(spread_[i], node)} + (spread_[i].own ? 1 : 0) - spread_[i].least;
    const bool in_any = topologies_[spread_[i].topology].at[node] != 0;
    if (!in_any || skew > request_.spread[i].max_skew)
      return {.why = Why::spread, .term = i, .amount = skew};
  }
  return {};
}

std::optional<Refusal> Vicinity::refusal(NodeId node) const {
  const Verdict& verdict = verdicts_[node.value() - 1];
  switch (verdict.why) {
    case Why::nothing:
      return std::nullopt;
    case Why::near:
      return refused(RefusalCode::not_near, request_.near[verdict.term], 0);
    case Why::apart:
      return refused(RefusalCode::not_apart, request_.apart[verdict.term], verdict.amount);
    case Why::against:
      return Refusal{.code = RefusalCode::kept_apart,
                     .subject = "within its " + topologies_[against_[verdict.term].topology].key,
                     .amounts = {{.name = "pods", .have = verdict.amount, .want = 0}}};
    case Why::spread:
      break;
  }
  const SpreadTerm& term = request_.spread[verdict.term];
  return Refusal{.code = RefusalCode::not_spread,
                 .subject = term.key,
                 .amounts = {{.name = "skew", .have = verdict.amount, .want = term.max_skew}}};
}

}  // namespace drover::engine
