#include "member/speech.h"

#include <poll.h>

#include <array>
#include <optional>

#include "base/text.h"
#include "native/rows.h"
#include "os/clock.h"

namespace drover::member {
namespace {

constexpr std::size_t kMostAnswer = 64U << 10U;

// Calls `move` until it has done something or the time is over.
template <class Move>
Result<std::size_t> within(tls::Channel& channel, Duration end, Move move) {
  using Step = tls::Channel::Step;
  for (;;) {
    const auto moved = move();
    if (moved.step == Step::done) return moved.size;
    if (moved.step == Step::failed) return channel.error();
    if (moved.step == Step::end)
      return Error{Errc::unavailable, "the controller has closed the connection"};
    pollfd watched{channel.fd(),
                   static_cast<short>(moved.step == Step::wants_read ? POLLIN : POLLOUT), 0};
    const auto left = (end - since_boot()).count();
    if (left <= 0 || ::poll(&watched, 1, static_cast<int>(left)) == 0) {
      return Error{Errc::unavailable, "the controller does not answer"};
    }
  }
}

// How many bytes follow the head; nothing when it makes no sense.
std::optional<std::size_t> length_of(std::string_view head, int status) {
  constexpr std::string_view kLength = "content-length:";
  if (status == 101) return 0;
  const std::string lowered = lower(head);
  const auto at = lowered.find(kLength);
  if (at == std::string::npos) return std::nullopt;
  const std::string_view line = std::string_view(lowered).substr(at + kLength.size());
  const auto size = parse_uint(trim(line.substr(0, line.find('\r'))));
  if (!size || *size > kMostAnswer) return std::nullopt;
  return static_cast<std::size_t>(*size);
}

}  // namespace

std::string post_text(std::string_view target, std::string_view body, std::string_view headers) {
  std::string text = "POST ";
  text += target;
  text += " HTTP/1.1\r\nHost: controller\r\nAccept: ";
  text += native::kProtoType;
  text += "\r\nContent-Type: ";
  text += native::kProtoType;
  text += "\r\n";
  text += headers;
  text += "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n";
  text += body;
  return text;
}

Status say(tls::Channel& channel, std::string_view text, Duration end) {
  while (!text.empty())
    text.remove_prefix(TRY(within(channel, end, [&] { return channel.write(text); })));
  return Done{};
}

Result<Heard> hear(tls::Channel& channel, Duration end) {
  constexpr std::string_view kVersion = "HTTP/1.1 ";
  std::string text;
  for (;;) {
    const auto head = text.find("\r\n\r\n");
    if (head != std::string::npos) {
      if (!text.starts_with(kVersion) || text.size() < kVersion.size() + 3) break;
      const auto status = parse_uint(std::string_view(text).substr(kVersion.size(), 3));
      if (!status) break;
      const auto size =
          length_of(std::string_view(text).substr(0, head), static_cast<int>(*status));
      if (!size) break;
      const std::size_t whole = head + 4 + *size;
      if (text.size() >= whole) {
        return Heard{.status = static_cast<int>(*status),
                     .text = text.substr(0, whole),
                     .body = text.substr(head + 4, *size),
                     .rest = text.substr(whole)};
      }
    }
    if (text.size() > 2 * kMostAnswer) break;
    std::array<char, 4096> piece{};
    text.append(piece.data(), TRY(within(channel, end, [&] { return channel.read(piece); })));
  }
  return Error{Errc::unavailable, "the controller's answer makes no sense"};
}

}  // namespace drover::member
