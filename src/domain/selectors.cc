#include "domain/selectors.h"

#include <algorithm>

#include "base/proto.h"

namespace drover {

std::uint32_t Selectors::intern(const PodSelector& selector) {
  const auto [place, fresh] =
      index_.try_emplace(encode(selector), static_cast<std::uint32_t>(selectors_.size()));
  if (fresh) selectors_.push_back(selector);
  by_space_labels_ = by_space_labels_ || selector.by_space_labels;
  return place->second;
}

void Selectors::add(ShapeId shape, const Request& request) {
  Numbers numbers;
  for (const PodTerm& term : request.near) numbers.near.push_back(intern(term.pods));
  for (const PodTerm& term : request.apart) {
    numbers.apart.push_back(intern(term.pods));
    if (std::ranges::find(apart_, numbers.apart.back()) == apart_.end())
      apart_.push_back(numbers.apart.back());
  }
  for (const SpreadTerm& term : request.spread) numbers.spread.push_back(intern(term.pods));
  of_.emplace(shape, std::move(numbers));
}

std::optional<std::uint32_t> Selectors::find(const PodSelector& selector) const {
  const auto found = index_.find(encode(selector));
  return found == index_.end() ? std::nullopt : std::optional(found->second);
}

const Selectors::Numbers* Selectors::of(ShapeId shape) const {
  const auto found = of_.find(shape);
  return found == of_.end() ? nullptr : &found->second;
}

}  // namespace drover
