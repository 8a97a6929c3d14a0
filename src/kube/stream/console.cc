#include "kube/stream/console.h"

#include "kube/json/print.h"
#include "kube/stream/channels.h"
#include "kube/stream/refusal.h"

namespace drover::kube {

void Junction::input(std::string_view bytes) {
  leash_.node->input(bytes);
  if (!held_ && leash_.node->waiting() > kStreamHigh) {
    held_ = true;
    console_->hold(true);
  }
}

void Junction::node_drained() {
  if (!held_) return;
  held_ = false;
  console_->hold(false);
}

void Junction::output(const PodOutput& output) {
  console_->output(output.error, output.bytes);
  if (console_->waiting() > kStreamHigh) leash_.node->hold(true);
}

namespace {

// A WebSocket whose messages name their channel.
class ChannelConsole : public Console, public std::enable_shared_from_this<ChannelConsole> {
 public:
  ChannelConsole(CommandAsk ask, std::shared_ptr<Junction> junction)
      : ask_(std::move(ask)), junction_(std::move(junction)) {
    junction_->join(this);
  }

  // kubectl since 1.30 reads before it has made its streams, and throws away what comes too early.
  void open(const wire::WsSessionPtr& session, const wire::Lane& lane) {
    session_ = session;
    lane.post_after(kFirstWord, [self = shared_from_this()] { self->begin(); });
  }
  void begin() {
    // Says that all is well before the command says anything; clients wait for it.
    say(ask_.query.output   ? Channel::output
        : ask_.query.errors ? Channel::errors
                            : Channel::status,
        {});
    junction_->start();
  }
  bool take(const std::string& message) {
    if (held_) return false;
    const auto parsed = parse_channel(message, ask_.protocol.starts_with("v5."));
    if (!parsed) {
      finish({.failure = parsed.error().message});
    } else if (const auto* input = std::get_if<PodInput>(&*parsed)) {
      if (!ask_.query.input) return true;
      if (input->last)
        junction_->end_input();
      else
        junction_->input(input->bytes);
    } else if (const auto* size = std::get_if<PodResize>(&*parsed);
               size != nullptr && ask_.query.terminal) {
      junction_->resize(*size);
    }
    return true;
  }
  void drained() { junction_->client_drained(); }

  void output(bool error, std::string_view bytes) override {
    const bool wanted = error ? ask_.query.errors : ask_.query.output;
    if (wanted && !bytes.empty()) say(error ? Channel::errors : Channel::output, bytes);
  }
  void finish(const PodStreamEnded& ended) override {
    say(Channel::status, print(ask_.attach ? end_of_attach(ended) : end_of_command(ended)));
    session_->close();
  }
  [[nodiscard]] std::size_t waiting() const override { return session_->waiting(); }
  void hold(bool hold) override {
    held_ = hold;
    if (!hold) session_->resume();
  }

 private:
  void say(Channel channel, std::string_view bytes) {
    if (session_->send(wire::bytes(channel_message(channel, bytes))) == wire::WsSession::Sent::full)
      session_->close();
  }

  static constexpr std::chrono::milliseconds kFirstWord{150};

  const CommandAsk ask_;
  const std::shared_ptr<Junction> junction_;
  wire::WsSessionPtr session_;
  bool held_ = false;
};

}  // namespace

void serve_channels(const wire::Responder& responder, const CommandAsk& ask,
                    std::shared_ptr<Junction> junction) {
  const auto console = std::make_shared<ChannelConsole>(ask, std::move(junction));
  wire::WsLimits limits;
  limits.max_message = 4U << 20U;
  limits.max_queue = 4U << 20U;
  limits.farewell = kFarewell;
  responder.upgrade(
      {.on_open = [console, lane = responder.lane()](
                      const wire::WsSessionPtr& session) { console->open(session, lane); },
       .on_message = [console](const wire::WsSessionPtr&,
                               std::string& message) { return console->take(message); },
       .on_close = [console](const wire::WsSessionPtr&, const std::string&) {},
       .on_drained = [console](const wire::WsSessionPtr&) { console->drained(); }},
      {.protocol = ask.protocol, .text = true, .low = kStreamLow, .limits = limits});
}

}  // namespace drover::kube
