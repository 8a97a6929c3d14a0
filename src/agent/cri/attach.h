// A container's own input and output: containerd gives them at an address of this machine, as a WebSocket
// of Kubernetes' remote command protocol (v4.channel.k8s.io). It has no word for the end of input.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "agent/pod/conversation.h"
#include "base/result.h"
#include "os/fd.h"

namespace drover::agent::cri {

class AttachStream {
 public:
  // "http://127.0.0.1:1234/attach/token"
  [[nodiscard]] static Result<AttachStream> connect(const std::string& url);
  // Until the container closes its outputs, or the client is gone.
  void carry(Conversation& with);

 private:
  explicit AttachStream(Fd socket) : socket_(std::move(socket)) {}
  Status shake_hands(const std::string& host, const std::string& path);
  bool send(char channel, std::string_view bytes);
  // Takes whole frames out of what has come. False: the end.
  bool deliver(int out, int err);

  Fd socket_;
  std::string arrived_;
  std::unique_ptr<std::mutex> sending_ = std::make_unique<std::mutex>();
};

// For tests: one frame as a client sends it.
[[nodiscard]] std::string websocket_frame(char channel, std::string_view bytes, std::string_view mask);

}  // namespace drover::agent::cri
