#include "agent/session/streams.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "agent/step/spec.h"
#include "base/proto.h"
#include "base/resume.h"
#include "os/file.h"
#include "os/socket.h"

namespace drover::agent {
namespace {

constexpr std::uint64_t kListening = 0;
constexpr std::size_t kMostVisitors = 1024;
constexpr std::int64_t kMostOfAUser = 256;
constexpr std::size_t kLargestWish = 4096;
constexpr Duration kPatience = seconds(2);       // for a wish, and for a step that is on its way
constexpr Duration kStepsPatience = seconds(5);  // for the answer of a step's own process

// A part's own descriptor has the number of its visitor with this on top.
constexpr std::uint64_t kPart = std::uint64_t{1} << 63U;

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

Result<Streams> Streams::open(StreamOptions options) {
  Streams streams(std::move(options));
  streams.listening_ = TRY(listen_stream(streams.options_.path, 0666));
  streams.ready_.add(streams.listening_.get(), EPOLLIN, kListening);
  return streams;
}

void Streams::turn(Duration now) {
  for (const epoll_event& event : ready_.ready()) {
    const std::uint64_t tag = event.data.u64;
    if (tag == kListening) {
      admit(now);
      continue;
    }
    const auto found = visitors_.find(tag & ~kPart);
    if (found == visitors_.end()) continue;
    if ((tag & kPart) != 0) pass_answer(found->second);
    else listen_to(found->first, found->second, now);
  }
  for (auto& [number, visitor] : visitors_) {
    if (visitor.phase == Phase::waiting && !visitor.gone) bring(number, visitor, now);
  }
  expire(now);
}

void Streams::admit(Duration now) {
  while (visitors_.size() < kMostVisitors) {
    auto accepted = accept_connection(listening_.get());
    if (!accepted) return;
    const auto peer = peer_of(accepted->get());
    if (!peer || crowded(peer->uid)) continue;
    const std::uint64_t number = ++last_number_;
    ready_.add(accepted->get(), EPOLLIN, number);
    visitors_.emplace(number, Visitor{.socket = std::move(*accepted), .uid = peer->uid, .until = now + kPatience});
  }
  ready_.remove(listening_.get());  // the others wait at the door
  accepts_ = false;
}

bool Streams::crowded(std::uint32_t uid) const {
  if (uid == 0) return false;
  return std::count_if(visitors_.begin(), visitors_.end(),
                       [&](const auto& entry) { return entry.second.uid == uid; }) >= kMostOfAUser;
}

void Streams::listen_to(std::uint64_t number, Visitor& visitor, Duration now) {
  std::array<char, kLargestWish> buffer{};
  const ssize_t n = ::recv(visitor.socket.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n <= 0 || visitor.phase != Phase::asking) {  // he left, or speaks out of turn
    visitor.gone = true;
    return;
  }
  visitor.bytes.append(buffer.data(), static_cast<std::size_t>(n));
  const auto wish = parse_attach(visitor.bytes);
  if (!wish) return answer(visitor, {.error = wish.error().message});
  if (!*wish) return;
  visitor.wish = **wish;
  visitor.phase = Phase::waiting;
  visitor.until = now + kPatience;
  bring(number, visitor, now);
}

void Streams::bring(std::uint64_t number, Visitor& visitor, Duration now) {
  auto part = options_.reach(visitor.wish);
  if (!part && part.error().code != Errc::not_found) return answer(visitor, {.error = part.error().message});
  if (!part) {
    if (options_.is_over(visitor.wish)) return answer(visitor, {.error = "the step is over"});
    return;
  }
  const Introduction introduction{.attach = encode(visitor.wish), .uid = visitor.uid};
  const std::string bytes = frame(encode(introduction));
  const ssize_t n = ::send(part->get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (n != static_cast<ssize_t>(bytes.size())) return answer(visitor, {.again = true});
  visitor.part = std::move(*part);
  visitor.phase = Phase::introduced;
  visitor.until = now + kStepsPatience;
  visitor.bytes.clear();
  ready_.add(visitor.part.get(), EPOLLIN, number | kPart);
}

// The answer and not a byte more: what follows belongs to the client.
void Streams::pass_answer(Visitor& visitor) {
  while (!visitor.gone) {
    std::string_view rest = visitor.bytes;
    bool whole = false;
    const auto message = take_frame(rest, whole);
    if (!message) return answer(visitor, {.error = "the step's process speaks another language"});
    if (whole) {
      const auto attached = decode<StepAttached>(*message);
      if (!attached) return answer(visitor, {.again = true});
      if (!attached->error.empty()) return answer(visitor, *attached);
      [[maybe_unused]] const Status handed =
          send_with_descriptor(visitor.socket.get(), visitor.bytes, visitor.part.get());
      visitor.gone = true;
      return;
    }
    std::string more(std::min(frame_length(visitor.bytes) - visitor.bytes.size(), kLargestWish), '\0');
    const ssize_t n = ::recv(visitor.part.get(), more.data(), more.size(), MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) return answer(visitor, {.again = true});  // it died: another try will tell
    visitor.bytes.append(more, 0, static_cast<std::size_t>(n));
  }
}

void Streams::answer(Visitor& visitor, const StepAttached& attached) {
  const std::string bytes = frame(encode(attached));
  [[maybe_unused]] const ssize_t n =
      ::send(visitor.socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  visitor.gone = true;
}

void Streams::expire(Duration now) {
  for (auto& [number, visitor] : visitors_) {
    if (visitor.gone || now < visitor.until) continue;
    if (visitor.phase == Phase::asking) visitor.gone = true;
    else answer(visitor, {.again = true});
  }
  std::erase_if(visitors_, [](const auto& entry) { return entry.second.gone; });
  if (!accepts_ && visitors_.size() < kMostVisitors) {
    ready_.add(listening_.get(), EPOLLIN, kListening);
    accepts_ = true;
  }
}

}  // namespace drover::agent
