// One connection of this machine and one TLS connection to another, with what is on its way between
// them. Never waits; the pump that owns it polls.
#pragma once

#include <poll.h>

#include <string>

#include "base/time.h"
#include "relay/pump.h"

namespace drover::relay {

class Pump::Pair {
 public:
  Pair(Load load, Duration now);

  // Moves what can be moved without waiting, but not for ever.
  void turn();
  [[nodiscard]] bool busy() const { return busy_; }  // there may be more to move at once
  // What the poll saw.
  void saw(short plain, short channel);
  // Once in a while: gives up what takes too long, and a peer that isn't there any more.
  void look(Duration now);
  [[nodiscard]] bool over() const { return out_.over && in_.over; }

  // -1, as poll takes it: nothing more is to be learnt there.
  [[nodiscard]] pollfd plain_poll() const;
  [[nodiscard]] pollfd channel_poll() const;

 private:
  using Step = tls::Channel::Step;
  // Bytes on their way in one direction.
  struct Flow {
    std::string bytes;
    bool ended = false;       // the source has said all
    bool over = false;        // and the sink knows, or is gone
    Step waits = Step::done;  // what the channel's side of it waits for
    [[nodiscard]] bool roomy() const { return !ended && !over && bytes.size() < kRoom; }
  };
  enum class Phase { shaking, opening, flowing };

  bool shake();
  bool await_opened();
  bool from_plain();
  bool to_channel();
  bool from_channel();
  bool to_plain();
  void refuse(const Error& error);
  void plain_gone();
  void channel_gone();
  [[nodiscard]] bool peer_is_dead() const;
  [[nodiscard]] bool peer_is_welcome(Duration now);

  Fd plain_;
  tls::Channel channel_;
  std::function<std::string(const Error&)> refused_;
  Flow out_;  // plain to channel
  Flow in_;   // channel to plain
  Phase phase_;
  Duration until_;  // of the handshake and the opening, and of the lingering at the end
  Duration recheck_at_{0};
  bool busy_ = true;
  bool plain_quiet_ = false;  // its other end is gone: poll would only repeat that
  bool channel_quiet_ = false;
  bool discards_ = false;  // what the channel says: nobody is left to hear it
  bool lingers_ = false;
};

}  // namespace drover::relay
