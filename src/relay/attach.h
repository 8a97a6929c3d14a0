// How local clients of steps say what they want: one framed StepAttach on a Unix socket, where the
// kernel names them. What becomes of it is for the owner to decide.
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

namespace drover::relay {

// The wish at the front of what a client sent; nothing when it isn't whole yet. invalid: it is
// none.
[[nodiscard]] Result<std::optional<StepAttach>> parse_attach(std::string_view bytes);
// As it goes to the client.
[[nodiscard]] std::string attached_frame(const StepAttached& attached);
// What a client is told of a relay that came to nothing; he tries again unless somebody refused.
[[nodiscard]] std::string relay_failed(const Error& error);

struct Caller {
  Fd socket;
  std::uint32_t uid = 0;
  StepAttach wish;
};

class Reception {
 public:
  // Listens at `path`, where everybody may connect. `take` gets each who has said what he wants,
  // within turn().
  [[nodiscard]] static Result<Reception> open(const std::string& path,
                                              std::function<void(Caller)> take);

  [[nodiscard]] int fd() const { return ready_.fd(); }
  // To be called when fd() is readable, and twice a second.
  void turn(Duration now);
  [[nodiscard]] std::size_t visitors() const { return visitors_.size(); }

 private:
  struct Visitor {
    Fd socket;
    std::uint32_t uid = 0;
    Duration until{};
    std::string bytes;
    bool gone = false;
  };
  explicit Reception(std::function<void(Caller)> take) : take_(std::move(take)) {}
  void admit(Duration now);
  [[nodiscard]] bool crowded(std::uint32_t uid) const;
  void listen_to(Visitor& visitor);

  std::function<void(Caller)> take_;
  Fd listening_;
  bool accepts_ = true;
  Epoll ready_;
  std::map<std::uint64_t, Visitor> visitors_;
  std::uint64_t last_number_ = 0;
};

}  // namespace drover::relay
