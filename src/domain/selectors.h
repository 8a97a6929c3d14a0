// The pod selectors of all requests by number, in the order in which the log first named them:
// whether a pod is meant by one is asked once and then compared as numbers. Like the shapes that
// they are from, none is forgotten.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "domain/ids.h"
#include "domain/request.h"

namespace drover {

class Selectors {
 public:
  // Of one shape, in the order of its terms.
  struct Numbers {
    std::vector<std::uint32_t> near;
    std::vector<std::uint32_t> apart;
    std::vector<std::uint32_t> spread;
  };
  void add(ShapeId shape, const Request& request);

  // Do the labels of namespaces matter to any of them?
  [[nodiscard]] bool by_space_labels() const { return by_space_labels_; }
  [[nodiscard]] std::size_t size() const { return selectors_.size(); }
  [[nodiscard]] const PodSelector& at(std::uint32_t number) const { return selectors_[number]; }
  [[nodiscard]] std::optional<std::uint32_t> find(const PodSelector& selector) const;
  [[nodiscard]] const Numbers* of(ShapeId shape) const;  // nullptr: it has no terms
  // Those of `apart` terms, which keep off pods that have no terms themselves; in the order of
  // their first use.
  [[nodiscard]] const std::vector<std::uint32_t>& apart() const { return apart_; }

 private:
  std::uint32_t intern(const PodSelector& selector);

  std::map<std::string, std::uint32_t> index_;  // by encoding
  std::deque<PodSelector> selectors_;
  std::map<ShapeId, Numbers> of_;
  std::vector<std::uint32_t> apart_;
  bool by_space_labels_ = false;
};

}  // namespace drover
