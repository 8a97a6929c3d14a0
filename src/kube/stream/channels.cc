#include "kube/stream/channels.h"

#include <algorithm>

#include "kube/json/parse.h"

namespace drover::kube {
namespace {

constexpr std::size_t kLongestSize = 256;

Result<PodResize> parse_resize(std::string_view json) {
  const Value size = TRY(parse(json, {.bytes = kLongestSize, .depth = 2}));
  const auto side = [&](std::string_view name) {
    return static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(integer_at(size, name).value_or(0), 0, 0xffff));
  };
  return PodResize{.rows = side("Height"), .columns = side("Width")};
}

}  // namespace

Result<ChannelMessage> parse_channel(std::string_view message, bool closes) {
  if (message.empty()) return ChannelMessage{NoMessage{}};
  const auto channel = static_cast<Channel>(static_cast<unsigned char>(message.front()));
  const std::string_view bytes = message.substr(1);
  if (channel == Channel::input) {
    if (bytes.empty()) return ChannelMessage{NoMessage{}};
    return ChannelMessage{PodInput{.bytes = std::string(bytes)}};
  }
  if (channel == Channel::resize) return ChannelMessage{TRY(parse_resize(bytes))};
  if (channel == Channel::close && closes && bytes.size() == 1) {
    if (bytes.front() == static_cast<char>(Channel::input))
      return ChannelMessage{PodInput{.last = true}};
    return ChannelMessage{NoMessage{}};
  }
  return Error{Errc::invalid,
               "nothing is taken on channel " + std::to_string(static_cast<int>(channel))};
}

std::string channel_message(Channel channel, std::string_view bytes) {
  std::string message;
  message.reserve(1 + bytes.size());
  message += static_cast<char>(channel);
  message += bytes;
  return message;
}

Result<std::vector<PodResize>> ResizeReader::feed(std::string_view bytes) {
  std::vector<PodResize> sizes;
  for (const char c : bytes) {
    if (partial_.empty() && (c == ' ' || c == '\n' || c == '\r' || c == '\t')) continue;
    partial_ += c;
    if (partial_.size() > kLongestSize)
      return Error{Errc::invalid, "this is no size of a terminal"};
    if (c != '}') continue;  // an object of two numbers: the first brace ends it
    sizes.push_back(TRY(parse_resize(partial_)));
    partial_.clear();
  }
  return sizes;
}

}  // namespace drover::kube
