// What the terms of a request about other pods, and those of others about it, say of each node. It
// follows the pods that come and go: a node that changed costs its pods times the terms, and the
// next question after that costs the nodes times the terms, in numbers alone. A request that no
// term speaks for or against has none.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "domain/cluster.h"
#include "domain/refusal.h"
#include "domain/request.h"

namespace drover::engine {

class Vicinity {
 public:
  // `candidates`: nodes that the request may be given at all, in rising order. `met`: meant_by
  // (domain/pod_terms.h) of whoever asks.
  Vicinity(const Cluster& cluster, std::span<const NodeId> candidates, const Request& request,
           std::vector<std::uint32_t> met);
  // Is there anything to ask?
  [[nodiscard]] static bool needed(const Request& request, const std::vector<std::uint32_t>& met) {
    return request.looks_around() || !met.empty();
  }

  // What holds the node, or what it is, may have changed. `description` rises with its labels and
  // taints.
  void see(const Cluster& cluster, NodeId node, std::span<const JobId> planned,
           std::uint64_t description);
  void see_all(const Cluster& cluster);  // once, of a cluster at rest
  // One more like the one that asks, in the same plan.
  void add(NodeId node);
  // To be called after those and before these. Returns the nodes that are let in now and weren't,
  // or the reverse.
  std::vector<NodeId> settle();
  [[nodiscard]] bool lets(NodeId node) const {
    return verdicts_[node.value() - 1].why == Why::nothing;
  }
  [[nodiscard]] std::optional<Refusal> refusal(NodeId node) const;

 private:
  enum class Why : std::uint8_t { nothing, near, apart, against, spread };
  struct Verdict {
    Why why = Why::nothing;
    std::uint32_t term = 0;
    std::int64_t amount = 0;
    friend bool operator==(const Verdict&, const Verdict&) = default;
  };
  struct Topology {
    std::string key;
    std::map<std::string, std::uint32_t> values;  // from 1
    std::vector<std::uint32_t> at;                // by node: the number of its value, 0 none
  };
  struct Count {
    std::size_t topology = 0;
    std::vector<std::uint32_t> here;  // by node
    std::vector<std::uint32_t> in;    // by value
    std::vector<bool> counts;         // by node: does it belong to its domain? empty: all do
    std::int64_t least = 0;           // of a spread term: in the emptiest domain
    bool own = false;                 // it means the one that asks
  };
  std::size_t place_of(const std::string& key, std::size_t nodes);
  static void locate(Topology& topology, const Node& node);
  std::size_t topology_of(const Cluster& cluster, const std::string& key);
  void describe(const Cluster& cluster, NodeId node);
  void count(const Cluster& cluster, std::size_t node, const Job& job);
  void add_up(Count& count) const;
  void find_least(Count& count, std::uint32_t min_domains) const;
  [[nodiscard]] Verdict judge(std::size_t node) const;
  [[nodiscard]] std::uint32_t in_domain(const Count& count, std::size_t node) const {
    return count.in[topologies_[count.topology].at[node]];
  }

  Request request_;
  std::vector<std::uint32_t> met_;
  std::vector<bool> candidate_;
  std::vector<bool> labels_hold_;
  std::vector<std::uint64_t> described_;
  std::vector<Topology> topologies_;
  std::vector<Count> near_;  // pods that all of those terms mean
  std::vector<Count> apart_;
  std::vector<Count> spread_;
  std::vector<Count> against_;  // pods with terms that mean the one that asks, one for each key
  std::vector<Verdict> verdicts_;
  bool stale_ = true;
};

}  // namespace drover::engine
