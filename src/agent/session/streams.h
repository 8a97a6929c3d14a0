// The node's door for clients of steps: says who they are as the kernel has it, and hands them over to
// the step's own process. What flows then isn't the agent's business any more.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "domain/step_launch.h"
#include "os/epoll.h"
#include "os/fd.h"

namespace drover::agent {

// The wish at the front of what a client sent; nothing when it isn't whole yet. invalid: it is none.
[[nodiscard]] Result<std::optional<StepAttach>> parse_attach(std::string_view bytes);

struct StreamOptions {
  std::string path;  // where everybody may connect
  // A connection to the process of that part. not_found: not yet, or not any more.
  std::function<Result<Fd>(const StepAttach&)> reach;
  std::function<bool(const StepAttach&)> is_over;
};

class Streams {
 public:
  [[nodiscard]] static Result<Streams> open(StreamOptions options);

  [[nodiscard]] int fd() const { return ready_.fd(); }
  // To be called when fd() is readable, when a step has begun or ended, and twice a second.
  void turn(Duration now);
  [[nodiscard]] std::size_t visitors() const { return visitors_.size(); }

 private:
  // asking: his wish isn't whole; waiting: for the step; introduced: for its answer.
  enum class Phase : std::uint8_t { asking, waiting, introduced };
  struct Visitor {
    Fd socket;
    std::uint32_t uid = 0;
    Phase phase = Phase::asking;
    Duration until{};
    std::string bytes;
    StepAttach wish;
    Fd part;
    bool gone = false;
  };

  explicit Streams(StreamOptions options) : options_(std::move(options)) {}
  void admit(Duration now);
  [[nodiscard]] bool crowded(std::uint32_t uid) const;
  void listen_to(std::uint64_t number, Visitor& visitor, Duration now);
  void bring(std::uint64_t number, Visitor& visitor, Duration now);
  void pass_answer(Visitor& visitor);
  static void answer(Visitor& visitor, const StepAttached& attached);
  void expire(Duration now);

  StreamOptions options_;
  Fd listening_;
  bool accepts_ = true;
  Epoll ready_;
  std::map<std::uint64_t, Visitor> visitors_;
  std::uint64_t last_number_ = 0;
};

}  // namespace drover::agent
