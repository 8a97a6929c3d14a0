// What is said first on a connection between machines, before its stream: what kind of stream, and
// for whom. Each is one frame of base/resume.h. What a kind's own question and stream look like is
// its own business.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/describe.h"

namespace drover::relay {

inline constexpr std::string_view kStepStream = "step";  // asks with a StepAttach
inline constexpr std::string_view kPodStream = "pod";    // asks with a PodAttach
inline constexpr std::size_t kLongestOpening = 64U << 10U;

// No uid: what a node says of its callers counts for nothing on another.
inline constexpr std::uint32_t kNobody = 0xFFFFFFFF;

struct Opening {
  std::string kind;
  std::string ask;  // of that kind
  std::uint32_t uid =
      kNobody;  // who asks, as the caller's kernel has it; believed of a controller only
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "kind", self.kind);
    visit(2, "ask", self.ask);
    visit(3, "uid", self.uid);
  }
};

// The answer. With an error the connection is over, else the stream follows.
struct Opened {
  std::string error;
  bool again = false;  // the error may be gone soon
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "error", self.error);
    visit(2, "again", self.again);
  }
};

}  // namespace drover::relay
