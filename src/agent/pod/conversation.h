// One client's stream, on a thread of its own that may wait: frames to and fro (domain/pod_stream.h).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "domain/pod_stream.h"
#include "os/fd.h"

namespace drover::agent {

class Conversation {
 public:
  // `stop` becomes readable when the agent leaves.
  Conversation(Fd socket, int stop) : socket_(std::move(socket)), stop_(stop) {}

  // The opening frame; an error when it doesn't come within a few seconds.
  [[nodiscard]] Result<PodAttach> opening();
  // False: the client is gone, or the agent leaves. Waits while he reads slowly.
  bool send(const PodAttached& answer);
  bool say(bool error, std::string_view bytes);
  bool end(const PodStreamEnded& last);
  // Waits so long. False as above; what the client says meanwhile is dropped.
  bool pause(Duration time);

  // A command's own ends. -1: none. Closed by the caller.
  struct Ends {
    int in = -1;
    int out = -1;
    int err = -1;
  };
  struct Hooks {
    std::function<void(std::uint32_t rows, std::uint32_t columns)> resize;
    std::function<void()> input_ended;  // the client has said all
  };
  // Carries bytes until the command has closed its outputs. False: the client is gone before that.
  bool carry(Ends ends, const Hooks& hooks);

 private:
  bool write(std::string_view bytes);
  bool fill();                   // reads what has come. False: the end
  std::optional<PodUp> take();   // the next whole frame
  void heed(const Ends& ends, const Hooks& hooks);
  void feed(Ends& ends, const Hooks& hooks);

  Fd socket_;
  int stop_;
  std::string arrived_;
  std::string input_;         // for the command
  bool input_over_ = false;   // the last of it is in input_
  bool broken_ = false;
};

}  // namespace drover::agent
