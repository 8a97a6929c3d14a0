// Cluster time: the leader's wall clock, made monotone. It runs with the boot-time clock and leans
// towards the wall clock slowly, so a jump of the wall clock fires nothing; the jump itself is told.
#pragma once

#include <optional>

#include "base/time.h"

namespace drover::control {

class ClusterTime {
 public:
  // `floor`: the instant of the last record of the log; time never falls below it.
  ClusterTime(Instant floor, Instant wall, Duration since_boot)
      : now_(wall > floor ? wall : floor), wall_(wall), boot_(since_boot) {}

  // Both clocks, read together by the caller.
  Instant advance(Instant wall, Duration since_boot) {
    const Duration elapsed = since_boot - boot_;
    const Duration wall_elapsed = wall - wall_;
    const Duration jump = wall_elapsed - elapsed;
    if (jump > kTolerated || jump < -kTolerated) jump_ = jump_.value_or(Duration{0}) + jump;
    // At most a twentieth faster or slower than real time until the two agree again.
    const Duration most = elapsed / 20;
    const Duration gap = wall - (now_ + elapsed);
    now_ += elapsed + (gap > most ? most : gap < -most ? -most : gap);
    wall_ = wall;
    boot_ = since_boot;
    return now_;
  }

  // The jump that was seen since the last call, if any.
  [[nodiscard]] std::optional<Duration> take_jump() {
    const std::optional<Duration> jump = jump_;
    jump_.reset();
    return jump;
  }

 private:
  static constexpr Duration kTolerated = seconds(2);
  Instant now_;
  Instant wall_;
  Duration boot_;
  std::optional<Duration> jump_;
};

}  // namespace drover::control
