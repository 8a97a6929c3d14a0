// Who listens to a part of a step: its owner, whose stream outlives his connections, and watchers, who
// get what is sent from now on and are cut when they are slow.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/resume.h"
#include "base/time.h"
#include "domain/step_launch.h"
#include "os/epoll.h"
#include "os/fd.h"

namespace drover::agent {

struct Admission {
  std::uint32_t uid = 0;  // besides root
  std::string ticket;
};

class Audience {
 public:
  // `listening`: where agents connect, each time with an Introduction.
  Audience(Fd listening, Admission admission);

  [[nodiscard]] int fd() const { return ready_.fd(); }
  // Admits, reads and writes what can be without waiting.
  void turn(const std::function<void(const StepUp&)>& on_order);
  // A framed StepDown.
  void send(std::string framed);
  void flush();
  // The owner's window: beyond it nothing should be sent.
  [[nodiscard]] bool full() const { return stream_.full(); }
  [[nodiscard]] bool all_confirmed() const { return stream_.all_confirmed(); }
  void hold_input(bool hold);
  [[nodiscard]] bool has_owner() const { return owner_ != 0; }
  // Since boot: when the owner was last there, or the beginning.
  [[nodiscard]] Duration alone_since() const { return alone_since_; }

 private:
  struct Guest {
    Fd socket;
    std::string greeting;                      // until it is whole
    ResumableStream* stream = nullptr;         // once attached
    std::unique_ptr<ResumableStream> watches;  // a watcher's own
    bool waits_to_write = false;
    bool gone = false;
  };
  using Guests = std::map<std::uint64_t, Guest>;
  void admit();
  void read_from(std::uint64_t number, Guest& guest, const std::function<void(const StepUp&)>& on_order);
  void greet(std::uint64_t number, Guest& guest);
  [[nodiscard]] StepAttached attach(std::uint64_t number, Guest& guest, std::string_view introduction);
  void write_to(std::uint64_t number, Guest& guest);
  void drop_gone();

  Admission admission_;
  Epoll ready_;
  Fd listening_;
  Guests guests_;
  std::uint64_t last_number_ = 0;
  std::uint64_t owner_ = 0;  // 0: none
  ResumableStream stream_;
  Duration alone_since_;
  std::string buffer_;
};

}  // namespace drover::agent
