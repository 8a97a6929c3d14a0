#include "kube/stream/node_stream.h"

#include <algorithm>
#include <utility>

#include "base/proto.h"
#include "base/resume.h"
#include "kube/stream/limits.h"

namespace drover::kube {
namespace {

constexpr std::size_t kPiece = 64U << 10U;

}  // namespace

std::shared_ptr<NodeStream> NodeStream::open(const wire::Lane& lane, Fd node, bool idle,
                                             Ears ears) {
  std::shared_ptr<NodeStream> self(new NodeStream(idle, std::move(ears)));
  wire::ByteHandlers handlers{
      .on_open = [self](const wire::ByteStreamPtr& stream) { self->stream_ = stream; },
      .on_bytes =
          [self](std::string_view bytes) {
            self->ticks_ = 0;
            self->partial_ += bytes;
            self->take();
          },
      .on_drained =
          [self] {
            const auto listening = self->ears_;
            if (listening && listening->drained) listening->drained();
          },
      .on_tick = [self] { self->tick(); },
      .on_close =
          [self](const std::string&) {
            self->lost_ = true;
            self->stream_ = nullptr;
            self->take();
          }};
  if (!lane.open(std::move(node), kNodeLimits, std::move(handlers))) self->close();
  return self;
}

void NodeStream::input(std::string_view bytes) {
  for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), kPiece))) {
    say(PodInput{.bytes = std::string(bytes.substr(0, kPiece))});
  }
}
void NodeStream::end_input() { say(PodInput{.last = true}); }
void NodeStream::resize(const PodResize& size) { say(size); }

void NodeStream::say(const PodUp& up) {
  if (over_ || !stream_) return;
  ticks_ = 0;
  std::string bytes = frame(encode(up));
  if (attached_)
    stream_->send(wire::bytes(std::move(bytes)));
  else
    early_ += bytes;
}

std::size_t NodeStream::waiting() const {
  return over_ || !stream_ ? 0 : early_.size() + stream_->waiting();
}

void NodeStream::hold(bool hold) {
  if (over_ || held_ == hold) return;
  held_ = hold;
  if (stream_) stream_->hold(hold);
  if (!hold) take();
}

void NodeStream::close() {
  if (std::exchange(over_, true)) return;
  ears_ = nullptr;
  if (stream_) stream_->close();
}

void NodeStream::take() {
  if (std::exchange(taking_, true))
    return;  // we are called from within, and look again by ourselves
  const auto self = shared_from_this();
  std::string_view rest = partial_;
  while (!over_ && !held_) {
    bool whole = false;
    const auto message = take_frame(rest, whole);
    if (message && !whole) break;
    if (!message || !take_message(*message)) end({.failure = "the node speaks another language"});
  }
  partial_.erase(0, partial_.size() - rest.size());
  taking_ = false;
  if (lost_ && !held_) end({.failure = "the connection to the node broke"});
}

bool NodeStream::take_message(std::string_view message) {
  const auto ears = ears_;  // outlives a close() from within
  if (!attached_) {
    const auto attached = decode<PodAttached>(message);
    if (!attached) return false;
    attached_ = true;
    if (!early_.empty() && stream_) stream_->send(wire::bytes(std::exchange(early_, {})));
    if (!attached->error.empty()) close();
    if (ears->attached) ears->attached(*attached);
    return true;
  }
  const auto down = decode<PodDown>(message);
  if (!down) return false;
  if (const auto* output = std::get_if<PodOutput>(&*down)) {
    if (ears->output) ears->output(*output);
  } else {
    end(std::get<PodStreamEnded>(*down));
  }
  return true;
}

void NodeStream::tick() {
  ++ticks_;
  if (!attached_ && ticks_ >= kAttachTicks)
    end({.failure = "the node doesn't answer"});
  else if (idle_ && ticks_ >= kIdleTicks)
    end({.failure = "nothing has been said for 4 hours"});
}

void NodeStream::end(const PodStreamEnded& ended) {
  if (over_) return;
  const auto ears = ears_;
  close();
  if (!attached_ && ears->attached)
    ears->attached({.error = ended.failure});
  else if (ears->ended)
    ears->ended(ended);
}

}  // namespace drover::kube
