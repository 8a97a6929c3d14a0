#include "agent/relay/pump.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "os/file.h"

namespace drover::agent {
namespace {

using Step = tls::Channel::Step;

// Bytes on their way in one direction.
struct Flow {
  std::string bytes;
  bool ended = false;     // the source has said all
  bool passed_on = false; // and the sink knows
  Step waits = Step::done;  // what the channel's side of it waits for
  [[nodiscard]] bool roomy() const { return !ended && bytes.size() < Pump::kRoom; }
  [[nodiscard]] bool over() const { return passed_on; }
};

}  // namespace

struct Pump::Pair {
  Fd plain;
  tls::Channel channel;
  Flow out;  // plain to channel
  Flow in;   // channel to plain
  bool broken = false;

  Pair(Fd socket, tls::Channel tls) : plain(std::move(socket)), channel(std::move(tls)) {}

  [[nodiscard]] bool over() const { return broken || (out.over() && in.over()); }

  // Moves what can be moved without waiting.
  void turn() {
    for (bool moved = true; moved && !broken;) {
      moved = from_plain();
      moved = to_channel() || moved;
      moved = from_channel() || moved;
      moved = to_plain() || moved;
    }
  }

  bool from_plain() {
    if (!out.roomy()) return false;
    std::array<char, 16U << 10U> piece;
    const ssize_t n = ::recv(plain.get(), piece.data(), piece.size(), MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    if (n < 0) broken = true;
    if (n <= 0) out.ended = true;
    if (n > 0) out.bytes.append(piece.data(), static_cast<std::size_t>(n));
    return n >= 0;
  }

  bool to_channel() {
    if (out.bytes.empty()) {
      if (!out.ended || std::exchange(out.passed_on, true)) return false;
      channel.finish();
      return true;
    }
    const auto moved = channel.write(out.bytes);
    out.waits = moved.step;
    if (moved.step == Step::failed || moved.step == Step::end) broken = true;
    if (moved.step != Step::done) return false;
    out.bytes.erase(0, moved.size);
    return true;
  }

  bool from_channel() {
    if (!in.roomy()) return false;
    std::array<char, 16U << 10U> piece;
    const auto moved = channel.read(piece);
    in.waits = moved.step;
    if (moved.step == Step::failed) broken = true;
    if (moved.step == Step::end) in.ended = true;
    if (moved.step == Step::done) in.bytes.append(piece.data(), moved.size);
    return moved.step == Step::done || moved.step == Step::end;
  }

  bool to_plain() {
    if (in.bytes.empty()) {
      if (!in.ended || std::exchange(in.passed_on, true)) return false;
      ::shutdown(plain.get(), SHUT_WR);
      return true;
    }
    const ssize_t n = ::send(plain.get(), in.bytes.data(), in.bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    if (n < 0) broken = true;
    if (n > 0) in.bytes.erase(0, static_cast<std::size_t>(n));
    return n > 0;
  }

  [[nodiscard]] short plain_events() const {
    return static_cast<short>((out.roomy() ? POLLIN : 0) | (in.bytes.empty() ? 0 : POLLOUT));
  }
  [[nodiscard]] short channel_events() const {
    short events = 0;
    const auto want = [&](bool busy, Step waits, short usual) {
      if (busy) events = static_cast<short>(events | (waits == Step::wants_read ? POLLIN
                                                      : waits == Step::wants_write ? POLLOUT : usual));
    };
    want(in.roomy(), in.waits, POLLIN);
    want(!out.bytes.empty(), out.waits, POLLOUT);
    return events;
  }
};

Pump::Pump(Fd bell) : bell_(std::move(bell)) {}

Result<std::unique_ptr<Pump>> Pump::start() {
  Fd bell(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!bell) return system_error(errno, "eventfd");
  std::unique_ptr<Pump> pump(new Pump(std::move(bell)));
  pump->thread_ = std::thread([p = pump.get()] { p->run(); });
  return pump;
}

Pump::~Pump() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto rung = ::write(bell_.get(), &one, sizeof one);
  if (thread_.joinable()) thread_.join();
}

void Pump::carry(Fd plain, tls::Channel channel) {
  {
    const std::lock_guard lock(mutex_);
    fresh_.emplace_back(std::move(plain), std::move(channel));
    ++count_;
  }
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto rung = ::write(bell_.get(), &one, sizeof one);
}

std::size_t Pump::pairs() const {
  const std::lock_guard lock(mutex_);
  return count_;
}

void Pump::take_new() {
  const std::lock_guard lock(mutex_);
  for (auto& [plain, channel] : fresh_) pairs_.emplace_back(std::move(plain), std::move(channel));
  fresh_.clear();
}

void Pump::run() {
  for (;;) {
    take_new();
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
    }
    for (Pair& pair : pairs_) pair.turn();
    pairs_.remove_if([](const Pair& pair) { return pair.over(); });
    {
      const std::lock_guard lock(mutex_);
      count_ = pairs_.size() + fresh_.size();
    }
    wait();
  }
}

void Pump::wait() {
  std::vector<pollfd> watched{{bell_.get(), POLLIN, 0}};
  for (const Pair& pair : pairs_) {
    watched.push_back({pair.plain.get(), pair.plain_events(), 0});
    watched.push_back({pair.channel.fd(), pair.channel_events(), 0});
  }
  ::poll(watched.data(), watched.size(), -1);
  std::uint64_t rung = 0;
  [[maybe_unused]] const auto read = ::read(bell_.get(), &rung, sizeof rung);
  std::size_t at = 1;
  for (Pair& pair : pairs_) {
    // A caller that has hung up altogether wants no answer any more; nor has a dead peer one.
    if ((watched[at].revents & (POLLHUP | POLLERR)) != 0 && pair.out.ended) pair.broken = true;
    if ((watched[at + 1].revents & (POLLHUP | POLLERR)) != 0 && pair.in.ended) pair.broken = true;
    at += 2;
  }
}

}  // namespace drover::agent
