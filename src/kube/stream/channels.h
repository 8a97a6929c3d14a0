// Messages of a WebSocket that carries a command's streams: the number of a channel, then its bytes
// (v4.channel.k8s.io, v5.channel.k8s.io). Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "domain/pod_stream.h"

namespace drover::kube {

enum class Channel : std::uint8_t {
  input = 0,
  output = 1,
  errors = 2,
  status = 3,
  resize = 4,
  close = 255
};

struct NoMessage {};  // says nothing to the command
using ChannelMessage = std::variant<NoMessage, PodInput, PodResize>;
// `closes`: the client may say that there is no more input (v5). invalid: what no client has to
// say.
[[nodiscard]] Result<ChannelMessage> parse_channel(std::string_view message, bool closes);

[[nodiscard]] std::string channel_message(Channel channel, std::string_view bytes);

// Sizes of a terminal as they come on a SPDY stream, one JSON object after the other, cut anywhere.
class ResizeReader {
 public:
  // An error: this is something else.
  [[nodiscard]] Result<std::vector<PodResize>> feed(std::string_view bytes);

 private:
  std::string partial_;
};

}  // namespace drover::kube
