// Probes: when the next is due, what many of them say together, and the asking itself.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "domain/pod.h"

namespace drover::agent {

// One probe of one run of a container.
class ProbeWatch {
 public:
  // Begun when the container was, or when its startup probe had succeeded.
  void begin(const PodProbe& probe, Duration now) {
    due_ = now + probe.initial_delay;
    good_ = bad_ = 0;
    begun_ = true;
    asking_ = false;
  }
  [[nodiscard]] bool begun() const { return begun_; }
  [[nodiscard]] bool due(Duration now) const { return begun_ && !asking_ && now >= due_; }
  [[nodiscard]] Duration next() const { return due_; }
  void asked() { asking_ = true; }

  enum class Verdict : std::uint8_t { unclear, passed, failed };
  Verdict answered(const PodProbe& probe, bool good, Duration now) {
    asking_ = false;
    due_ = now + probe.period;
    good_ = good ? good_ + 1 : 0;
    bad_ = good ? 0 : bad_ + 1;
    if (good && good_ >= probe.successes) return Verdict::passed;
    if (!good && bad_ >= probe.failures) return Verdict::failed;
    return Verdict::unclear;
  }

 private:
  Duration due_{};
  std::uint32_t good_ = 0;
  std::uint32_t bad_ = 0;
  bool begun_ = false;
  bool asking_ = false;
};

// Asks an HTTP or TCP probe, waiting up to its timeout. `address` is the pod's own, for a probe without a
// host. The error says what a reader of events sees.
[[nodiscard]] Status ask_probe(const PodProbe& probe, const std::string& address);

}  // namespace drover::agent
