// Label selectors: `a=b,c in (x,y),!gone` in a query, or {matchLabels, matchExpressions} in an
// object. A selector without requirements matches everything.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "kube/select/requirement.h"

namespace drover::kube {

class LabelSelector {
 public:
  LabelSelector() = default;
  explicit LabelSelector(std::vector<Requirement> all) : all_(std::move(all)) {}

  // At most 64 KiB and 1000 requirements. The API server's words: `unable to parse requirement:
  // ...`.
  [[nodiscard]] static Result<LabelSelector> parse(std::string_view text);
  // A LabelSelector object. Kubernetes lets a missing selector match nothing; that is the caller's
  // to say.
  [[nodiscard]] static Result<LabelSelector> from(const Value& selector);

  [[nodiscard]] const std::vector<Requirement>& all() const { return all_; }
  [[nodiscard]] bool everything() const { return all_.empty(); }
  // `labels` is metadata.labels, null for none.
  [[nodiscard]] bool matches(const Object* labels) const;
  // The same over any source of labels: std::optional<std::string_view> look_up(std::string_view
  // key).
  template <class LookUp>
  [[nodiscard]] bool matches_by(LookUp look_up) const {
    return std::ranges::all_of(all_,
                               [&](const Requirement& one) { return one.holds(look_up(one.key)); });
  }
  [[nodiscard]] std::string text() const;

 private:
  std::vector<Requirement> all_;
};

}  // namespace drover::kube
