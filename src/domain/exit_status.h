// How a process ended.
#pragma once

#include <cstdint>

#include "base/describe.h"

namespace drover {

struct ExitStatus {
  std::int32_t code = 0;
  std::int32_t signal = 0;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "code", self.code);
    visit(2, "signal", self.signal);
  }
  friend bool operator==(const ExitStatus&, const ExitStatus&) = default;
};

}  // namespace drover
