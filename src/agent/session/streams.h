// The node's door for clients of steps: says who they are as the kernel has it, and hands them over to
// the step's own process. What flows then isn't the agent's business any more. Whose step is on another
// node is passed on to that node's agent, and who comes from another machine is joined to the step here.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "domain/step_launch.h"
#include "os/epoll.h"
#include "os/fd.h"
#include "relay/attach.h"
#include "relay/door.h"
#include "relay/pump.h"

namespace drover::agent {

struct StreamOptions {
  std::string path;  // where everybody on this machine may connect
  std::string node;  // this one
  // A connection to the process of that part. not_found: not yet, or not any more.
  std::function<Result<Fd>(const StepAttach&)> reach;
  std::function<bool(const StepAttach&)> is_over;
  // Takes a caller whose wish is for another node; null: there is no way there.
  std::function<void(relay::Caller)> abroad = nullptr;
  relay::Pump* pump = nullptr;  // carries those who come from afar
};

class Streams {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Streams>> open(StreamOptions options);
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;
  ~Streams() = default;

  [[nodiscard]] int fd() const { return ready_.fd(); }
  // To be called when fd() is readable, when a step has begun or ended, and twice a second.
  void turn(Duration now);
  [[nodiscard]] std::size_t visitors() const { return visitors_.size() + reception_->visitors(); }
  // Somebody from another machine, whose opening asks with a StepAttach. From any thread.
  void take(relay::Arrival arrival);

 private:
  enum class Phase : std::uint8_t { waiting, introduced };  // for the step; for its answer
  struct Visitor {
    Fd socket;                            // of a local one
    std::optional<relay::Arrival> afar;   // or this
    std::uint32_t uid = 0;
    Phase phase = Phase::waiting;
    Duration until{};
    std::string bytes;
    StepAttach wish;
    Fd part;
    bool gone = false;
  };

  explicit Streams(StreamOptions options) : options_(std::move(options)) {}
  void welcome(relay::Caller caller);
  void welcome(relay::Arrival arrival);
  void begin(Visitor visitor);
  void bring(std::uint64_t number, Visitor& visitor);
  void pass_answer(Visitor& visitor);
  void answer(Visitor& visitor, const StepAttached& attached);
  void expire();

  StreamOptions options_;
  Epoll ready_;
  Fd bell_;
  std::optional<relay::Reception> reception_;
  std::map<std::uint64_t, Visitor> visitors_;
  std::uint64_t last_number_ = 0;
  Duration now_{0};
  std::mutex mutex_;
  std::vector<relay::Arrival> arrived_;
};

}  // namespace drover::agent
