// Seeded chance. The numbers are fixed for ever: std::mt19937_64 is specified exactly by the
// standard, its distributions are not, so those stand here.
#pragma once

#include <cstdint>
#include <random>

namespace drover {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  [[nodiscard]] std::uint64_t next() { return engine_(); }
  // Uniform in [0, n). The bias of the remainder is below n / 2^64.
  [[nodiscard]] std::uint64_t below(std::uint64_t n) { return n == 0 ? 0 : engine_() % n; }
  [[nodiscard]] std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low) + 1));
  }
  [[nodiscard]] bool chance(std::uint64_t in, std::uint64_t of) { return below(of) < in; }

 private:
  std::mt19937_64 engine_;
};

}  // namespace drover
