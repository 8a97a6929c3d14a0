#include "relay/door.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>
#include <vector>

#include "base/proto.h"
#include "base/resume.h"
#include "base/text.h"
#include "os/clock.h"
#include "os/file.h"
#include "relay/dial.h"

namespace drover::relay {
namespace {

using Step = tls::Channel::Step;
using Kind = tls::Identity::Kind;

constexpr std::size_t kMostGuests = 256;
constexpr Duration kPatience = seconds(5);  // for the handshake and the opening together
constexpr Duration kSayEvery = seconds(10);

Status may_enter(const tls::Identity& who) {
  if (who.kind == Kind::node || who.kind == Kind::controller) return Done{};
  return Error{Errc::denied, who.text() + " opens no streams here"};
}

}  // namespace

void join(Pump& pump, Arrival arrival, Fd plain, const std::string& first) {
  pump.carry({.plain = std::move(plain),
              .channel = std::move(arrival.channel),
              .to_channel = frame(encode(Opened{})) + first,
              .to_plain = std::move(arrival.rest)});
}

void answer(Pump& pump, Arrival arrival, const std::string& last) {
  std::array<int, 2> ends{-1, -1};  // the other end is closed at once: that was all
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0)
    return;
  const Fd other(ends[1]);
  join(pump, std::move(arrival), Fd(ends[0]), last);
}

void refuse(Pump& pump, Arrival arrival, const Opened& why) {
  std::array<int, 2> ends{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0)
    return;
  const Fd other(ends[1]);
  pump.carry({.plain = Fd(ends[0]),
              .channel = std::move(arrival.channel),
              .to_channel = frame(encode(why))});
}

Door::Door(DoorOptions options, Pump& pump, Fd listening, Fd stop)
    : options_(std::move(options)),
      pump_(pump),
      listening_(std::move(listening)),
      stop_(std::move(stop)) {}

Result<std::unique_ptr<Door>> Door::open(DoorOptions options, Pump& pump) {
  Fd listening = TRY(wire::listen_on(options.at, 0));
  Fd stop(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!stop) return system_error(errno, "eventfd");
  std::unique_ptr<Door> door(
      new Door(std::move(options), pump, std::move(listening), std::move(stop)));
  door->thread_ = std::thread([d = door.get()] { d->run(); });
  return door;
}

Door::~Door() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto rung = ::write(stop_.get(), &one, sizeof one);
  if (thread_.joinable()) thread_.join();
}

void Door::serve(std::string_view kind, Take take) {
  const std::lock_guard lock(mutex_);
  if (take)
    takes_.insert_or_assign(std::string(kind), std::move(take));
  else if (const auto known = takes_.find(kind); known != takes_.end())
    takes_.erase(known);
}

void Door::run() {
  for (;;) {
    std::vector<pollfd> watched{{stop_.get(), POLLIN, 0}, {listening_.get(), POLLIN, 0}};
    for (const Guest& guest : guests_) {
      watched.push_back({guest.channel.fd(),
                         static_cast<short>(guest.waits == Step::wants_write ? POLLOUT : POLLIN),
                         0});
    }
    ::poll(watched.data(), watched.size(), guests_.empty() ? -1 : 1000);
    if ((watched[0].revents & POLLIN) != 0) return;
    const Duration now = since_boot();
    std::size_t at = 2;
    for (Guest& guest : guests_) {
      if (watched[at++].revents != 0) turn(guest);
      if (!guest.gone && now >= guest.until) turn_away(guest, "it takes too long");
    }
    if ((watched[1].revents & POLLIN) != 0) admit(now);
    std::erase_if(guests_, [](const Guest& guest) { return guest.gone; });
  }
}

void Door::admit(Duration now) {
  for (;;) {
    Fd fd(::accept4(listening_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!fd) {
      if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) ::poll(nullptr, 0, 100);
      return;
    }
    keep_alive(fd.get());
    // Who has shown nothing yet makes place: strangers can't keep the others out.
    if (guests_.size() >= kMostGuests) {
      const auto stranger =
          std::ranges::find_if(guests_, [](const Guest& guest) { return !guest.proven; });
      if (stranger == guests_.end()) continue;
      guests_.erase(stranger);
    }
    std::string address = wire::peer_of(fd.get()).address;
    guests_.push_back({.channel = tls::Channel(*options_.context, std::move(fd), may_enter),
                       .address = std::move(address),
                       .until = now + kPatience});
    turn(guests_.back());
  }
}

void Door::turn(Guest& guest) {
  if (!guest.proven) {
    guest.waits = guest.channel.handshake();
    if (guest.waits == Step::failed || guest.waits == Step::end)
      return turn_away(guest, guest.channel.error().message);
    if (guest.waits != Step::done) return;
    guest.proven = true;
  }
  for (;;) {
    std::string_view rest = guest.bytes;
    bool whole = false;
    const auto message = take_frame(rest, whole);
    if (!message || guest.bytes.size() > kLongestOpening)
      return turn_away(guest, "it opens no stream of ours");
    if (whole) {
      const auto opening = decode<Opening>(*message);
      if (!opening) return turn_away(guest, "it opens no stream of ours");
      return dispatch(guest, guest.bytes.size() - rest.size(), *opening);
    }
    std::array<char, 4096> piece{};
    const auto moved = guest.channel.read(piece);
    guest.waits = moved.step;
    if (moved.step == Step::end || moved.step == Step::failed) {
      guest.gone = true;  // it has thought better of it
      return;
    }
    if (moved.step != Step::done) return;
    guest.bytes.append(piece.data(), moved.size);
  }
}

void Door::dispatch(Guest& guest, std::size_t length, const Opening& opening) {
  guest.gone = true;
  const auto who = guest.channel.peer();
  if (!who) return;
  Arrival arrival{.who = who->identity,
                  .opening = opening,
                  .channel = std::move(guest.channel),
                  .rest = guest.bytes.substr(length)};
  const std::lock_guard lock(mutex_);
  const auto known = takes_.find(opening.kind);
  if (known != takes_.end()) return known->second(std::move(arrival));
  // Perhaps it is starting, or older than who asks.
  refuse(pump_, std::move(arrival),
         {.error = "nobody here serves streams of kind " + printable(opening.kind, 40),
          .again = true});
}

void Door::turn_away(Guest& guest, const std::string& why) {
  guest.gone = true;
  const Duration now = since_boot();
  if (!options_.say || (said_ != Duration(0) && now - said_ < kSayEvery)) return;
  said_ = now;
  options_.say("a stream from " + guest.address + " was refused: " + printable(why));
}

}  // namespace drover::relay
