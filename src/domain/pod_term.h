// Terms of a request that speak of other pods. A topology domain is all nodes that have the same
// value of one label, the key; a node without that label is in none. Who is meant is asked when a
// place is sought, of pods that hold a node then; what changes later moves nobody.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/describe.h"
#include "domain/label_term.h"

namespace drover {

// Pods by their labels, in some namespaces. Jobs without a document are no pods and never meant.
struct PodSelector {
  std::vector<LabelTerm> labels;    // all of them hold
  std::vector<std::string> spaces;  // in one of these namespaces,
  bool by_space_labels =
      false;  // or in one of which all of `space_labels` hold; without any: in every one
  std::vector<LabelTerm> space_labels;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "labels", self.labels);
    visit(2, "spaces", self.spaces);
    visit(3, "by_space_labels", self.by_space_labels);
    visit(4, "space_labels", self.space_labels);
  }
  friend bool operator==(const PodSelector&, const PodSelector&) = default;
};

struct PodTerm {
  std::string key;  // label of nodes
  PodSelector pods;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "key", self.key);
    visit(2, "pods", self.pods);
  }
  friend bool operator==(const PodTerm&, const PodTerm&) = default;
};

// The domains of `key` hold about as many of `pods` each: with the new one, its domain has at most
// `max_skew` more than the emptiest. Pods that are ending don't count.
struct SpreadTerm {
  std::string key;
  PodSelector pods;
  std::uint32_t max_skew = 1;
  std::uint32_t min_domains = 1;  // with fewer domains the emptiest counts as empty
  bool all_nodes = false;         // also domains of nodes that the request's own labels rule out
  bool usable_nodes = false;      // only nodes that are open and whose taints the request tolerates
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "key", self.key);
    visit(2, "pods", self.pods);
    visit(3, "max_skew", self.max_skew);
    visit(4, "min_domains", self.min_domains);
    visit(5, "all_nodes", self.all_nodes);
    visit(6, "usable_nodes", self.usable_nodes);
  }
  friend bool operator==(const SpreadTerm&, const SpreadTerm&) = default;
};

}  // namespace drover
