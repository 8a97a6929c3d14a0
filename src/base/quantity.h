// Amounts that add and compare only with their own unit. All are integers.
#pragma once

#include <compare>
#include <cstdint>

namespace drover {

template <class Unit>
class Quantity {
 public:
  constexpr Quantity() = default;
  [[nodiscard]] static constexpr Quantity of(std::int64_t count) { return Quantity(count); }
  [[nodiscard]] constexpr std::int64_t count() const { return count_; }

  constexpr Quantity& operator+=(Quantity other) { count_ += other.count_; return *this; }
  constexpr Quantity& operator-=(Quantity other) { count_ -= other.count_; return *this; }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return a += b; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return a -= b; }
  friend constexpr Quantity operator*(Quantity a, std::int64_t n) { return Quantity(a.count_ * n); }
  friend constexpr auto operator<=>(Quantity, Quantity) = default;

 private:
  constexpr explicit Quantity(std::int64_t count) : count_(count) {}
  std::int64_t count_ = 0;
};

using Bytes = Quantity<struct BytesUnit>;
[[nodiscard]] constexpr Bytes mebibytes(std::int64_t n) { return Bytes::of(n << 20); }
[[nodiscard]] constexpr Bytes gibibytes(std::int64_t n) { return Bytes::of(n << 30); }

// Thousandths of one device: a whole GPU is 1000.
using Milli = Quantity<struct MilliUnit>;

}  // namespace drover
