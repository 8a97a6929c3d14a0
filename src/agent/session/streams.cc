#include "agent/session/streams.h"

#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "agent/step/spec.h"
#include "base/proto.h"
#include "base/resume.h"
#include "base/text.h"
#include "os/file.h"
#include "os/socket.h"

namespace drover::agent {
namespace {

constexpr std::uint64_t kReception = 0;
constexpr std::uint64_t kBell = ~std::uint64_t{0};
constexpr std::size_t kMostVisitors = 1024;
constexpr std::size_t kLongestAnswer = 4096;
constexpr Duration kPatience = seconds(2);       // for a step that is on its way
constexpr Duration kStepsPatience = seconds(5);  // for the answer of a step's own process

// A part's own descriptor has the number of its visitor with this on top.
constexpr std::uint64_t kPart = std::uint64_t{1} << 63U;

}  // namespace

Result<std::unique_ptr<Streams>> Streams::open(StreamOptions options) {
  std::unique_ptr<Streams> streams(new Streams(std::move(options)));
  streams->bell_ = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!streams->bell_) return system_error(errno, "eventfd");
  streams->reception_ = TRY(relay::Reception::open(
      streams->options_.path, [s = streams.get()](relay::Caller caller) { s->welcome(std::move(caller)); }));
  streams->ready_.add(streams->reception_->fd(), EPOLLIN, kReception);
  streams->ready_.add(streams->bell_.get(), EPOLLIN, kBell);
  return streams;
}

void Streams::take(relay::Arrival arrival) {
  {
    const std::lock_guard lock(mutex_);
    arrived_.push_back(std::move(arrival));
  }
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto rung = ::write(bell_.get(), &one, sizeof one);
}

void Streams::turn(Duration now) {
  now_ = now;
  for (const epoll_event& event : ready_.ready()) {
    const std::uint64_t tag = event.data.u64;
    const auto found = visitors_.find(tag & ~kPart);
    if (tag == kReception || tag == kBell || found == visitors_.end()) continue;
    if ((tag & kPart) != 0) pass_answer(found->second);
    else found->second.gone = true;  // he left, or speaks out of turn
  }
  reception_->turn(now);
  std::uint64_t rung = 0;
  [[maybe_unused]] const auto read = ::read(bell_.get(), &rung, sizeof rung);
  std::vector<relay::Arrival> arrived;
  {
    const std::lock_guard lock(mutex_);
    arrived.swap(arrived_);
  }
  for (relay::Arrival& arrival : arrived) welcome(std::move(arrival));
  for (auto& [number, visitor] : visitors_) {
    if (visitor.phase == Phase::waiting && !visitor.gone) bring(number, visitor);
  }
  expire();
}

void Streams::welcome(relay::Caller caller) {
  const bool here = caller.wish.node.empty() || caller.wish.node == options_.node;
  if (!here && options_.abroad) return options_.abroad(std::move(caller));
  Visitor visitor{.socket = std::move(caller.socket), .uid = caller.uid, .wish = std::move(caller.wish)};
  if (here) return begin(std::move(visitor));
  answer(visitor, {.error = "this is node " + options_.node + ", whose agent has no certificate and so no way to " +
                            printable(visitor.wish.node)});
}

void Streams::welcome(relay::Arrival arrival) {
  auto wish = decode<StepAttach>(arrival.opening.ask);
  const std::uint32_t uid = arrival.uid();
  Visitor visitor{.afar = std::move(arrival), .uid = uid};
  if (!wish) return answer(visitor, {.error = wish.error().message});
  visitor.wish = *std::move(wish);
  if (visitor.wish.node == options_.node) return begin(std::move(visitor));
  answer(visitor, {.error = "this is node " + options_.node + ", not " + printable(visitor.wish.node)});
}

void Streams::begin(Visitor visitor) {
  if (visitors_.size() >= kMostVisitors) return answer(visitor, {.again = true});
  visitor.until = now_ + kPatience;
  const std::uint64_t number = ++last_number_;
  if (visitor.socket) ready_.add(visitor.socket.get(), EPOLLIN, number);
  visitors_.emplace(number, std::move(visitor));
}

void Streams::bring(std::uint64_t number, Visitor& visitor) {
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
  visitor.until = now_ + kStepsPatience;
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
      visitor.gone = true;
      ready_.remove(visitor.part.get());
      if (visitor.afar) {
        return relay::join(*options_.pump, std::move(*visitor.afar), std::move(visitor.part), visitor.bytes);
      }
      [[maybe_unused]] const Status handed =
          send_with_descriptor(visitor.socket.get(), visitor.bytes, visitor.part.get());
      return;
    }
    std::string more(std::min(frame_length(visitor.bytes) - visitor.bytes.size(), kLongestAnswer), '\0');
    const ssize_t n = ::recv(visitor.part.get(), more.data(), more.size(), MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) return answer(visitor, {.again = true});  // it died: another try will tell
    visitor.bytes.append(more, 0, static_cast<std::size_t>(n));
  }
}

void Streams::answer(Visitor& visitor, const StepAttached& attached) {
  visitor.gone = true;
  const std::string bytes = relay::attached_frame(attached);
  if (visitor.afar) return relay::answer(*options_.pump, std::move(*visitor.afar), bytes);
  [[maybe_unused]] const ssize_t n =
      ::send(visitor.socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void Streams::expire() {
  for (auto& [number, visitor] : visitors_) {
    if (!visitor.gone && now_ >= visitor.until) answer(visitor, {.again = true});
  }
  std::erase_if(visitors_, [](const auto& entry) { return entry.second.gone; });
}

}  // namespace drover::agent
