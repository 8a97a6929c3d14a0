// What a job's shim and a step's share: both outlive every daemon, wait for what they started, and end
// it by force when its time has come.
#pragma once

#include <sys/time.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>

#include "base/time.h"
#include "os/fd.h"

namespace drover::agent {

inline constexpr Duration kUnkillable = seconds(10);  // of SIGKILL; after that processes are reported as left over
inline constexpr Duration kSweep = Duration(10);      // between two rounds of SIGKILL
inline constexpr Duration kLook = Duration(100);      // between two looks at what was asked to end
inline constexpr std::size_t kMessageLimit = 1000;    // bytes of a reason that is written down

[[nodiscard]] std::int64_t microseconds_of(const timeval& time);

// A session of its own that inherits orphans and takes no signal by itself; `name` is for ps(1).
void become_guardian(const char* name);
// Readable when a child has ended; to be emptied with take_child_signals().
[[nodiscard]] Fd child_signals();
void take_child_signals(const Fd& signals);

using Deadline = std::optional<Duration>;  // time since boot; none: never

// Several deadlines as one descriptor to wait on.
class Alarm {
 public:
  [[nodiscard]] int fd() const { return timer_.get(); }
  // Rings at the earliest; costs a system call only when that has changed.
  void set(std::initializer_list<Deadline> deadlines);
  // To be called when the descriptor was readable.
  void rang();

 private:
  Fd timer_;
  Deadline armed_;
};

// True once, when it has come: it is reset then.
[[nodiscard]] bool due(Deadline& deadline, Duration now);

}  // namespace drover::agent
