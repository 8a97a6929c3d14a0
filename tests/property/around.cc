#include "around.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "domain/node_labels.h"
#include "domain/pod_terms.h"

namespace drover::property {
namespace {

struct Other {
  const Job* job;
  NodeId node;
};

class Around {
 public:
  Around(const Cluster& cluster, const Job& job)
      : cluster_(cluster), job_(job), request_(cluster.request(job)) {
    cluster.jobs().each([&](const Job& other) {
      if (!other.active() || other.id == job.id) return;
      for (const NodeShare& share : other.run->placement->shares) {
        if (other.holds(share.node)) others_.push_back({&other, share.node});
      }
    });
  }
  std::string broken_at(NodeId node) const {
    if (std::string why = broken_apart(node); !why.empty()) return why;
    if (std::string why = broken_near(node); !why.empty()) return why;
    return broken_spread(node);
  }
  void add(NodeId node) { others_.push_back({&job_, node}); }

 private:
  [[nodiscard]] std::optional<std::string> value(NodeId node, const std::string& key) const {
    const auto labels = labels_of(cluster_.node(node));
    const auto found = labels.find(key);
    return found == labels.end() ? std::nullopt : std::optional(found->second);
  }
  [[nodiscard]] bool same(NodeId a, NodeId b, const std::string& key) const {
    return value(a, key) && value(a, key) == value(b, key);
  }
  [[nodiscard]] bool means(const PodSelector& pods, const Job& job) const {
    return selects(cluster_, pods, cluster_.pod_identity(job.id));
  }
  [[nodiscard]] std::string broken_apart(NodeId node) const {
    for (const Other& other : others_) {
      for (const PodTerm& term : request_.apart) {
        if (means(term.pods, *other.job) && same(node, other.node, term.key))
          return "near one it must be apart from";
      }
      for (const PodTerm& term : cluster_.request(*other.job).apart) {
        if (means(term.pods, job_) && same(node, other.node, term.key))
          return "near one that must be apart from it";
      }
    }
    return "";
  }
  [[nodiscard]] std::string broken_near(NodeId node) const {
    const auto all = [&](const Job& job) {
      return std::ranges::all_of(request_.near,
                                 [&](const PodTerm& term) { return means(term.pods, job); });
    };
    bool anybody = false;
    bool everywhere = true;
    for (const PodTerm& term : request_.near) {
      if (!value(node, term.key)) return "in no domain of " + term.key;
      bool here = false;
      for (const Other& other : others_) {
        if (!all(*other.job)) continue;
        anybody = anybody || value(other.node, term.key);
        here = here || same(node, other.node, term.key);
      }
      everywhere = everywhere && here;
    }
    return everywhere || (!anybody && all(job_)) ? "" : "not near whom it must be near to";
  }
  [[nodiscard]] bool belongs(const SpreadTerm& term, const Node& node) const {
    const Partition& partition = *cluster_.partition(cluster_.text(job_.partition));
    const bool member = partition.nodes.empty() ||
                        std::ranges::find(partition.nodes, node.name()) != partition.nodes.end();
    const bool keys = std::ranges::all_of(
        request_.spread, [&](const SpreadTerm& t) { return value(node.id, t.key).has_value(); });
    return member && keys && (term.all_nodes || labels_hold(request_, node)) &&
           (!term.usable_nodes || (node.open() && taint_against(request_, node) == nullptr));
  }
  [[nodiscard]] std::string broken_spread(NodeId place) const {
    for (const SpreadTerm& term : request_.spread) {
      const auto own = value(place, term.key);
      if (!own) return "in no domain of " + term.key;
      std::map<std::string, int> domains;
      for (const Node& node : cluster_.nodes()) {
        if (belongs(term, node)) domains.emplace(*value(node.id, term.key), 0);
      }
      for (const Other& other : others_) {
        if (other.job->phase == Phase::ending || !means(term.pods, *other.job)) continue;
        if (belongs(term, cluster_.node(other.node))) ++domains[*value(other.node, term.key)];
      }
      int least = 1 << 20;
      for (const auto& [name, pods] : domains) least = std::min(least, pods);
      if (domains.size() < term.min_domains) least = 0;
      const int skew = domains[*own] + (means(term.pods, job_) ? 1 : 0) - least;
      if (skew > static_cast<int>(term.max_skew))
        return "skew " + std::to_string(skew) + " over " + term.key;
    }
    return "";
  }

  const Cluster& cluster_;
  const Job& job_;
  const Request& request_;
  std::vector<Other> others_;
};

}  // namespace

std::string broken_term(const Cluster& cluster, const Job& job) {
  Around around(cluster, job);
  std::vector<NodeId> left;
  for (const NodeShare& share : job.run->placement->shares) left.push_back(share.node);
  while (!left.empty()) {  // of a gang: in some order in which each member may come
    std::string why;
    const auto next = std::ranges::find_if(left, [&](NodeId node) {
      const std::string broken = around.broken_at(node);
      if (!broken.empty()) why = broken + " on " + cluster.node(node).name();
      return broken.empty();
    });
    if (next == left.end()) return why;
    around.add(*next);
    left.erase(next);
  }
  return "";
}

}  // namespace drover::property
