// Names of things as numbers. Ids of different kinds never mix.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace drover {

template <class Kind>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(std::uint64_t value) : value_(value) {}
  [[nodiscard]] constexpr std::uint64_t value() const { return value_; }
  // 0 means "none"; real ids start at 1.
  constexpr explicit operator bool() const { return value_ != 0; }
  friend constexpr auto operator<=>(Id, Id) = default;

 private:
  std::uint64_t value_ = 0;
};

}  // namespace drover

template <class Kind>
struct std::hash<drover::Id<Kind>> {
  std::size_t operator()(drover::Id<Kind> id) const noexcept {
    return std::hash<std::uint64_t>{}(id.value());
  }
};
