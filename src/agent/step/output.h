// What the tasks write, as messages for the client: read in turn, and only while somebody takes it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "agent/step/audience.h"
#include "base/time.h"
#include "domain/step_launch.h"
#include "os/epoll.h"
#include "os/fd.h"

namespace drover::agent {

class Output {
 public:
  explicit Output(Audience& audience) : audience_(audience) {}

  // `source` is the reading end of a pipe, or a terminal's near side.
  void add(std::uint32_t task, StepChannel channel, Fd source, bool terminal);
  // Readable when a task has written something or has closed its end.
  [[nodiscard]] int fd() const { return ready_.fd(); }
  // Reads from each that is ready, until the audience is full.
  void turn();

  // The task's process is over: what is in its pipes now was its own, what comes later is not.
  void process_over(std::uint32_t task, Duration now);
  // No process of the part is left: what is in the pipes now is all.
  void all_over();
  [[nodiscard]] bool drained(std::uint32_t task, Duration now) const;
  [[nodiscard]] bool at_end() const { return open_ == 0; }
  // A terminal says nothing of what is still on its way: that gets a moment.
  static constexpr Duration kTerminalDrain = Duration(100);

 private:
  struct Source {
    std::uint32_t task = 0;
    StepChannel channel = StepChannel::out;
    Fd fd;
    bool terminal = false;
    bool last = false;          // close it once `own` is read
    std::int64_t own = -1;      // bytes left that were written before the end; -1: the process lives
    Duration settled_at{};
  };
  void read_from(Source& source);
  void close(Source& source);

  Audience& audience_;
  Epoll ready_;
  std::vector<Source> sources_;
  std::size_t open_ = 0;
};

// A StepDown with a StepOutput, framed, around `room` bytes at kOutputPrefix that are yet to be read.
inline constexpr std::size_t kOutputPrefix = 22;
void frame_output(std::string& framed, std::uint32_t task, StepChannel channel);

}  // namespace drover::agent
