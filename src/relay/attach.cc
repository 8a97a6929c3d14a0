#include "relay/attach.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/proto.h"
#include "base/resume.h"
#include "os/socket.h"

namespace drover::relay {
namespace {

constexpr std::uint64_t kListening = 0;
constexpr std::size_t kMostVisitors = 1024;
constexpr std::int64_t kMostOfAUser = 256;
constexpr std::size_t kLargestWish = 4096;
constexpr Duration kPatience = seconds(2);

}  // namespace

Result<std::optional<StepAttach>> parse_attach(std::string_view bytes) {
  const std::size_t length = bytes.size();
  bool whole = false;
  const std::string_view message = TRY(take_frame(bytes, whole));
  if (!whole) {
    if (length > kLargestWish) return Error{Errc::invalid, "a request to attach is too long"};
    return std::optional<StepAttach>{};
  }
  if (message.size() > kLargestWish) return Error{Errc::invalid, "a request to attach is too long"};
  return std::optional(TRY(decode<StepAttach>(message)));
}

std::string attached_frame(const StepAttached& attached) { return frame(encode(attached)); }

std::string relay_failed(const Error& error) {
  return attached_frame({.error = error.message, .again = error.code == Errc::unavailable});
}

Result<Reception> Reception::open(const std::string& path, std::function<void(Caller)> take) {
  Reception reception(std::move(take));
  reception.listening_ = TRY(listen_stream(path, 0666));
  reception.ready_.add(reception.listening_.get(), EPOLLIN, kListening);
  return reception;
}

void Reception::turn(Duration now) {
  for (const epoll_event& event : ready_.ready()) {
    if (event.data.u64 == kListening) {
      admit(now);
    } else if (const auto found = visitors_.find(event.data.u64); found != visitors_.end()) {
      listen_to(found->second);
    }
  }
  std::erase_if(visitors_,
                [&](const auto& entry) { return entry.second.gone || now >= entry.second.until; });
  if (!accepts_ && visitors_.size() < kMostVisitors) {
    ready_.add(listening_.get(), EPOLLIN, kListening);
    accepts_ = true;
  }
}

void Reception::admit(Duration now) {
  while (visitors_.size() < kMostVisitors) {
    auto accepted = accept_connection(listening_.get());
    if (!accepted) return;
    const auto peer = peer_of(accepted->get());
    if (!peer || crowded(peer->uid)) continue;
    const std::uint64_t number = ++last_number_;
    ready_.add(accepted->get(), EPOLLIN, number);
    visitors_.emplace(
        number,
        Visitor{.socket = std::move(*accepted), .uid = peer->uid, .until = now + kPatience});
  }
  ready_.remove(listening_.get());  // the others wait at the door
  accepts_ = false;
}

bool Reception::crowded(std::uint32_t uid) const {
  if (uid == 0) return false;
  return std::count_if(visitors_.begin(), visitors_.end(),
                       [&](const auto& entry) { return entry.second.uid == uid; }) >= kMostOfAUser;
}

void Reception::listen_to(Visitor& visitor) {
  if (visitor.gone) return;
  std::array<char, kLargestWish> buffer{};
  const ssize_t n = ::recv(visitor.socket.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n <= 0) {
    visitor.gone = true;
    return;
  }
  visitor.bytes.append(buffer.data(), static_cast<std::size_t>(n));
  const auto wish = parse_attach(visitor.bytes);
  if (wish && !*wish) return;
  visitor.gone = true;
  if (wish) {
    ready_.remove(visitor.socket.get());
    take_({.socket = std::move(visitor.socket), .uid = visitor.uid, .wish = **wish});
    return;
  }
  const std::string no = attached_frame({.error = wish.error().message});
  [[maybe_unused]] const ssize_t sent =
      ::send(visitor.socket.get(), no.data(), no.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace drover::relay
