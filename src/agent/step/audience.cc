#include "agent/step/audience.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <variant>

#include "agent/step/spec.h"
#include "base/proto.h"
#include "os/clock.h"
#include "os/socket.h"
#include "relay/opening.h"

namespace drover::agent {
namespace {

constexpr std::uint64_t kListening = 0;
constexpr std::size_t kMostGuests = 32;
constexpr std::size_t kReadRoom = std::size_t{256} << 10;
constexpr std::size_t kWindow = std::size_t{2} << 20;
constexpr std::size_t kWatchersWindow = std::size_t{4} << 20;
constexpr int kReadsATurn = 8;

// Takes the same time wherever they differ.
bool same_secret(std::string_view a, std::string_view b) {
  if (a.empty() || a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  return difference == 0;
}

}  // namespace

Audience::Audience(Fd listening, Admission admission)
    : admission_(std::move(admission)),
      listening_(std::move(listening)),
      stream_(kWindow),
      alone_since_(since_boot()),
      buffer_(kReadRoom, '\0') {
  ready_.add(listening_.get(), EPOLLIN, kListening);
}

void Audience::turn(const std::function<void(const StepUp&)>& on_order) {
  for (const epoll_event& event : ready_.ready()) {
    if (event.data.u64 == kListening) {
      admit();
      continue;
    }
    const auto guest = guests_.find(event.data.u64);
    if (guest == guests_.end()) continue;
    if ((event.events & ~static_cast<std::uint32_t>(EPOLLOUT)) != 0) read_from(guest->first, guest->second, on_order);
  }
  flush();
}

void Audience::admit() {
  for (;;) {
    auto accepted = accept_connection(listening_.get());
    if (!accepted) return;
    if (guests_.size() >= kMostGuests) continue;
    const std::uint64_t number = ++last_number_;
    ready_.add(accepted->get(), EPOLLIN, number);
    guests_.emplace(number, Guest{.socket = std::move(*accepted)});
  }
}

void Audience::read_from(std::uint64_t number, Guest& guest, const std::function<void(const StepUp&)>& on_order) {
  for (int i = 0; i < kReadsATurn && !guest.gone; ++i) {
    const ssize_t n = ::recv(guest.socket.get(), buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) {
      guest.gone = true;
      return;
    }
    std::string_view bytes(buffer_.data(), static_cast<std::size_t>(n));
    if (guest.stream == nullptr) {
      guest.greeting += bytes;
      greet(number, guest);
      continue;
    }
    const bool owner = number == owner_;
    const Status fed = guest.stream->feed(bytes, [&](std::string_view message) {
      if (!owner) return;
      if (const auto order = decode<StepUp>(message)) on_order(*order);
    });
    if (!fed) guest.gone = true;
  }
}

void Audience::greet(std::uint64_t number, Guest& guest) {
  std::string_view rest = guest.greeting;
  bool whole = false;
  const auto introduction = take_frame(rest, whole);
  if (!introduction || guest.greeting.size() > kReadRoom) guest.gone = true;
  if (!introduction || !whole) return;
  const std::string answer = frame(encode(attach(number, guest, *introduction)));
  const ssize_t n = ::send(guest.socket.get(), answer.data(), answer.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (n != static_cast<ssize_t>(answer.size()) || guest.stream == nullptr) guest.gone = true;
}

StepAttached Audience::attach(std::uint64_t number, Guest& guest, std::string_view introduction) {
  const auto introduced = decode<Introduction>(introduction);
  const auto wish = introduced ? decode<StepAttach>(introduced->attach) : Result<StepAttach>(Error{});
  if (!wish) return {.error = "the request to attach can't be read"};
  const bool known = introduced->uid == 0 || introduced->uid == admission_.uid;
  if (!known && !same_secret(wish->ticket, admission_.ticket)) {
    return {.error = introduced->uid == relay::kNobody ? "from another machine only this step's ticket opens it"
                                                : "this step is another user's"};
  }
  if (wish->as == AttachAs::watcher) {
    guest.watches = std::make_unique<ResumableStream>(kWatchersWindow);
    [[maybe_unused]] const Status connected = guest.watches->connected(0);
    guest.stream = guest.watches.get();
    return {};
  }
  // The last connection of the owner may be dead without knowing it.
  if (const auto last = guests_.find(owner_); last != guests_.end()) {
    last->second.gone = true;
    last->second.stream = nullptr;
    alone_since_ = since_boot();
  }
  owner_ = 0;
  if (const Status connected = stream_.connected(wish->received); !connected) {
    stream_.lost();
    return {.error = connected.error().message};
  }
  owner_ = number;
  guest.stream = &stream_;
  return {.received = stream_.received()};
}

void Audience::send(std::string framed) {
  for (auto& [number, guest] : guests_) {
    if (guest.watches) guest.watches->send_framed(framed);
    if (guest.watches && guest.watches->full()) guest.gone = true;
  }
  stream_.send_framed(std::move(framed));
}

void Audience::flush() {
  for (auto& [number, guest] : guests_) {
    if (guest.stream != nullptr && !guest.gone) write_to(number, guest);
  }
  drop_gone();
}

void Audience::write_to(std::uint64_t number, Guest& guest) {
  bool blocked = false;
  while (!blocked && !guest.stream->pending().empty()) {
    const std::string_view pending = guest.stream->pending();
    const ssize_t n = ::send(guest.socket.get(), pending.data(), pending.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0) guest.stream->wrote(static_cast<std::size_t>(n));
    blocked = n < 0 && errno == EAGAIN;
    if (n < 0 && errno != EAGAIN && errno != EINTR) {
      guest.gone = true;
      return;
    }
  }
  if (blocked == guest.waits_to_write) return;
  guest.waits_to_write = blocked;
  ready_.change(guest.socket.get(), blocked ? EPOLLIN | EPOLLOUT : EPOLLIN, number);
}

void Audience::drop_gone() {
  std::erase_if(guests_, [&](const auto& entry) {
    if (!entry.second.gone) return false;
    if (entry.first == owner_) {
      stream_.lost();
      owner_ = 0;
      alone_since_ = since_boot();
    }
    return true;
  });
}

void Audience::hold_input(bool hold) { stream_.hold_confirmations(hold); }

}  // namespace drover::agent
