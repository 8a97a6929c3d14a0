#include "kube/stream/port_forward.h"

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace drover::kube {
namespace {

constexpr std::size_t kMostOfAClient = 512;  // streams: two for each connection

}  // namespace

PortForward::PortForward(Options options)
    : options_(std::move(options)),
      spdy_(kMostOfAClient,
            {.opened = [this](std::uint32_t id,
                              const SpdyHeaders& headers) { return opened(id, headers); },
             .data = [this](std::uint32_t id, std::string_view bytes) { data(id, bytes); },
             .fin = [this](std::uint32_t id) { input_over(id); },
             .reset = [this](std::uint32_t id) { reset(id); },
             .send = [this](std::string bytes) { client_->send(wire::bytes(std::move(bytes))); }}) {
}

wire::ByteHandlers PortForward::handlers() {
  return {.on_open = [self = shared_from_this()](
                         const wire::ByteStreamPtr& client) { self->client_ = client; },
          .on_bytes = [self = shared_from_this()](std::string_view bytes) { self->take(bytes); },
          .on_drained = [self = shared_from_this()] { self->client_drained(); },
          .on_tick = [self = shared_from_this()] { self->tick(); },
          .on_close = [self = shared_from_this()](const std::string&) { self->forwards_.clear(); }};
}

void PortForward::take(std::string_view bytes) {
  heard_ = 0;
  if (!spdy_.feed(bytes) || (spdy_.client_is_leaving() && forwards_.empty())) client_->close();
}

Status PortForward::opened(std::uint32_t id, const SpdyHeaders& headers) {
  const auto port = parse_int(find(headers, "port"));
  if (!port || *port < 1 || *port > 0xffff) return Error{Errc::invalid, "no port"};
  const std::string_view type = find(headers, "streamtype");
  if (type != "data" && type != "error") return Error{Errc::invalid, "unknown type"};
  const bool is_data = type == "data";
  std::string request(find(headers, "requestid"));
  // Clients of long ago don't number their requests: a connection's two streams follow one another.
  if (request.empty()) request = "stream " + std::to_string(is_data ? id - 2 : id);
  Forward& forward = forwards_[request];
  std::uint32_t& mine = is_data ? forward.data : forward.error;
  if (mine != 0) return Error{Errc::conflict, "that request has one already"};
  mine = id;
  forward.port = static_cast<std::uint32_t>(*port);
  if (forward.data != 0 && forward.error != 0) {
    // After the reply to this stream, which has to come first.
    options_.lane.post_later([self = weak_from_this(), request] {
      if (const auto alive = self.lock()) alive->begin(request);
    });
  }
  return Done{};
}

void PortForward::begin(const std::string& request) {
  const auto found = forwards_.find(request);
  if (found == forwards_.end() || found->second.leash) return;
  Forward& forward = found->second;
  forward.pass = options_.gate.enter();
  if (!forward.pass) return ended(request, "too many streams are open");
  auto node = options_.reach(forward.port);
  if (!node) return ended(request, node.error().message);
  const std::weak_ptr<PortForward> weak = weak_from_this();
  auto stream =
      NodeStream::open(options_.lane, std::move(*node), true,
                       {.attached =
                            [weak, request](const PodAttached& attached) {
                              const auto self = weak.lock();
                              if (self && !attached.error.empty())
                                self->ended(request, attached.error);
                            },
                        .output =
                            [weak, request](const PodOutput& output) {
                              const auto self = weak.lock();
                              if (!self) return;
                              const auto at = self->forwards_.find(request);
                              if (at == self->forwards_.end()) return;
                              self->spdy_.data(at->second.data, output.bytes);
                              if (self->client_->waiting() > kStreamHigh && at->second.leash)
                                at->second.leash->node->hold(true);
                            },
                        .ended =
                            [weak, request](const PodStreamEnded& ended) {
                              if (const auto self = weak.lock())
                                self->ended(request, ended.failure);
                            },
                        .drained =
                            [weak] {
                              if (const auto self = weak.lock()) self->hold_client();
                            }});
  forward.leash = std::make_shared<NodeLeash>(std::move(stream));
  if (!forward.early.empty()) forward.leash->node->input(std::exchange(forward.early, {}));
  if (forward.input_over) forward.leash->node->end_input();
  hold_client();
}

PortForward::Forwards::iterator PortForward::by_data(std::uint32_t id) {
  return std::ranges::find_if(forwards_,
                              [&](const auto& entry) { return entry.second.data == id; });
}

void PortForward::data(std::uint32_t id, std::string_view bytes) {
  const auto found = by_data(id);
  if (found == forwards_.end()) return;  // nothing is said on the stream of errors
  if (found->second.leash)
    found->second.leash->node->input(bytes);
  else
    found->second.early += bytes;
  hold_client();
}

void PortForward::input_over(std::uint32_t id) {
  const auto found = by_data(id);
  if (found == forwards_.end()) return;
  found->second.input_over = true;
  if (found->second.leash) found->second.leash->node->end_input();
}

void PortForward::reset(std::uint32_t id) {
  const auto found = by_data(id);
  if (found != forwards_.end()) ended(found->first, "");
}

void PortForward::ended(const std::string& request, const std::string& failure) {
  const auto found = forwards_.find(request);
  if (found == forwards_.end()) return;
  const Forward over = std::move(found->second);
  forwards_.erase(found);
  if (!failure.empty()) {
    spdy_.data(over.error, "error forwarding port " + std::to_string(over.port) + " to pod " +
                               options_.pod + ": " + failure);
  }
  spdy_.fin(over.data);
  spdy_.fin(over.error);
  hold_client();
  if (spdy_.client_is_leaving() && forwards_.empty()) client_->close();
}

// All connections share the client's one: he waits for the slowest of them, as with a kubelet.
void PortForward::hold_client() {
  const bool high = std::ranges::any_of(forwards_, [&](const auto& entry) {
    const Forward& forward = entry.second;
    const std::size_t waits =
        forward.early.size() + (forward.leash ? forward.leash->node->waiting() : 0);
    return waits > (held_ ? kStreamLow : kStreamHigh);
  });
  if (high == held_) return;
  held_ = high;
  client_->hold(high);
}

void PortForward::client_drained() {
  // A node that goes on may end at once, and is struck off the list.
  std::vector<std::shared_ptr<NodeLeash>> all;
  for (const auto& [request, forward] : forwards_) {
    if (forward.leash) all.push_back(forward.leash);
  }
  for (const auto& leash : all) leash->node->hold(false);
}

void PortForward::tick() {
  if (++heard_ >= kDeadTicks && client_->waiting() == 0 && !held_) return client_->close();
  spdy_.ping();
  const auto late = std::ranges::find_if(forwards_, [](auto& entry) {
    Forward& forward = entry.second;
    return !forward.leash && ++forward.ticks >= kCreateTicks;
  });
  if (late != forwards_.end()) ended(std::string(late->first), "timed out waiting for streams");
}

}  // namespace drover::kube
