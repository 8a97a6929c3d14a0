#include "kube/stream/tunnel.h"

#include <utility>

#include "kube/stream/limits.h"

namespace drover::kube {
namespace {

constexpr std::size_t kMost = 4U << 20U;

class Tunnel : public wire::ByteStream {
 public:
  explicit Tunnel(wire::WsSessionPtr session) : session_(std::move(session)) {}
  void send(wire::Bytes bytes) override {
    if (session_->send(std::move(bytes)) == wire::WsSession::Sent::full) session_->close();
  }
  [[nodiscard]] std::size_t waiting() const override { return session_->waiting(); }
  void hold(bool hold) override {
    held_ = hold;
    if (!hold) session_->resume();
  }
  void close() override { session_->close(); }
  [[nodiscard]] const wire::Peer& peer() const override { return session_->peer(); }
  [[nodiscard]] bool held() const { return held_; }

 private:
  const wire::WsSessionPtr session_;
  bool held_ = false;
};

struct Ends {
  wire::ByteHandlers handlers;
  std::shared_ptr<Tunnel> tunnel;
};

}  // namespace

void tunnel(const wire::Responder& responder, const std::string& protocol,
            const wire::ByteLimits& limits, wire::ByteHandlers handlers) {
  const auto ends =
      std::make_shared<Ends>(Ends{.handlers = std::move(handlers), .tunnel = nullptr});
  wire::WsLimits ws;
  ws.max_message = kMost;
  ws.max_queue = kMost;
  ws.ping_every = limits.tick;
  ws.dead_after = 3 * limits.tick;
  ws.farewell = kFarewell;
  responder.upgrade(
      {.on_open =
           [ends](const wire::WsSessionPtr& session) {
             ends->tunnel = std::make_shared<Tunnel>(session);
             ends->handlers.on_open(ends->tunnel);
           },
       .on_message =
           [ends](const wire::WsSessionPtr&, std::string& message) {
             if (ends->tunnel->held()) return false;
             ends->handlers.on_bytes(message);
             return true;
           },
       .on_close = [ends](const wire::WsSessionPtr&,
                          const std::string& why) { ends->handlers.on_close(why); },
       .on_drained = [ends](const wire::WsSessionPtr&) { ends->handlers.on_drained(); },
       .on_tick = [ends](const wire::WsSessionPtr&) { ends->handlers.on_tick(); }},
      {.protocol = protocol, .low = limits.low, .limits = ws});
}

}  // namespace drover::kube
