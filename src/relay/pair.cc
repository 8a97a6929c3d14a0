#include "relay/pair.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

#include "base/proto.h"
#include "base/resume.h"
#include "os/clock.h"
#include "relay/opening.h"

namespace drover::relay {
namespace {

constexpr Duration kPatience = seconds(5);
constexpr Duration kLinger =
    seconds(2);              // for a peer to end too, once it was told that all has been said
constexpr int kRounds = 16;  // of a turn, so that a fast pair doesn't hold up the others
constexpr std::size_t kPiece = 16U << 10U;
// Repeated sends without an answer, each twice as late as the last: some 25 s.
constexpr int kDeadAfter = 7;
constexpr Duration kRecheck = seconds(10);

}  // namespace

Pump::Pair::Pair(Load load, Duration now)
    : plain_(std::move(load.plain)),
      channel_(std::move(load.channel)),
      refused_(std::move(load.refused)),
      out_{.bytes = std::move(load.to_channel)},
      in_{.bytes = std::move(load.to_plain)},
      phase_(refused_ ? Phase::shaking : Phase::flowing),
      until_(now + kPatience) {}

void Pump::Pair::turn() {
  busy_ = true;
  for (int i = 0; i < kRounds && busy_; ++i) {
    bool moved = false;
    if (phase_ == Phase::shaking) moved = shake();
    if (phase_ == Phase::opening) moved = await_opened() || moved;
    if (phase_ == Phase::flowing) {
      moved = from_plain() || moved;
      moved = to_channel() || moved;
      moved = from_channel() || moved;
      moved = to_plain() || moved;
    }
    busy_ = moved;
  }
}

bool Pump::Pair::shake() {
  const Step step = channel_.handshake();
  out_.waits = in_.waits = step;
  if (step == Step::failed || step == Step::end) refuse(channel_.error());
  if (step != Step::done) return phase_ == Phase::flowing;
  phase_ = Phase::opening;
  return true;
}

// Sends what opens the stream, and reads the answer and perhaps what follows it. What `plain` says
// meanwhile waits: it has a stream only then.
bool Pump::Pair::await_opened() {
  const bool moved = !out_.bytes.empty() && to_channel();
  if (!from_channel()) return moved;
  std::string_view rest = in_.bytes;
  bool whole = false;
  const auto message = take_frame(rest, whole);
  if (message && !whole && !in_.ended && in_.bytes.size() < kLongestOpening) return true;
  const auto opened = message && whole ? decode<Opened>(*message) : Result<Opened>(Error{});
  if (in_.over || !opened) {
    refuse(channel_.error());
  } else if (!opened->error.empty()) {
    refuse({opened->again ? Errc::unavailable : Errc::denied, opened->error});
  } else {
    in_.bytes = std::string(rest);
    phase_ = Phase::flowing;
  }
  return true;
}

bool Pump::Pair::from_plain() {
  if (!out_.roomy()) return false;
  std::array<char, kPiece>
      piece;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled by the read
  const ssize_t n = ::recv(plain_.get(), piece.data(), piece.size(), MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (n < 0) plain_gone();
  if (n <= 0) out_.ended = true;
  if (n > 0) out_.bytes.append(piece.data(), static_cast<std::size_t>(n));
  return true;
}

bool Pump::Pair::to_channel() {
  if (out_.over) return false;
  if (out_.bytes.empty()) {
    if (!out_.ended) return false;
    out_.over = true;
    channel_.finish();
    return true;
  }
  const auto moved = channel_.write(out_.bytes);
  out_.waits = moved.step;
  if (moved.step == Step::failed || moved.step == Step::end) channel_gone();
  if (moved.step != Step::done) return false;
  out_.bytes.erase(0, moved.size);
  return true;
}

bool Pump::Pair::from_channel() {
  if (!in_.roomy()) return false;
  std::array<char, kPiece>
      piece;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled by the read
  const auto moved = channel_.read(piece);
  in_.waits = moved.step;
  if (moved.step == Step::failed) channel_gone();
  if (moved.step == Step::failed || moved.step == Step::end) in_.ended = true;
  if (moved.step == Step::done && !discards_) in_.bytes.append(piece.data(), moved.size);
  return moved.step == Step::done || in_.ended;
}

bool Pump::Pair::to_plain() {
  if (in_.over) return false;
  if (discards_) {
    in_.over = in_.ended;
    return false;
  }
  if (in_.bytes.empty()) {
    if (!in_.ended) return false;
    in_.over = true;
    ::shutdown(plain_.get(), SHUT_WR);
    return true;
  }
  const ssize_t n =
      ::send(plain_.get(), in_.bytes.data(), in_.bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (n < 0) plain_gone();
  if (n > 0) in_.bytes.erase(0, static_cast<std::size_t>(n));
  return n > 0;
}

// There is no stream: `plain` hears why, and that is all.
void Pump::Pair::refuse(const Error& error) {
  const Error why =
      error.message.empty() ? Error{Errc::unavailable, "the connection ended"} : error;
  channel_gone();
  in_ = {.bytes = refused_(why), .ended = true};
  phase_ = Phase::flowing;
}

// Nobody there takes anything any more; what was said before it went still goes out. The peer's
// bytes are read and thrown away meanwhile: TCP would drop what is on its way out when it is closed
// over unread ones.
void Pump::Pair::plain_gone() {
  plain_quiet_ = true;
  discards_ = true;
  in_.bytes.clear();
  if (phase_ != Phase::flowing) in_.over = out_.over = true;
}

void Pump::Pair::channel_gone() {
  channel_quiet_ = true;
  out_ = {.ended = true, .over = true};
}

void Pump::Pair::saw(short plain, short channel) {
  constexpr short kGone = POLLHUP | POLLERR | POLLNVAL;
  if ((plain & kGone) != 0) plain_gone();
  if ((channel & kGone) == 0) return;
  // What it still has to say is read by the turns; a handshake finds out for itself why.
  channel_quiet_ = true;
  if (phase_ == Phase::flowing) channel_gone();
}

void Pump::Pair::look(Duration now) {
  if (phase_ == Phase::flowing) {
    if (!channel_quiet_ && (peer_is_dead() || !peer_is_welcome(now))) {
      channel_gone();
      in_.ended = true;
    }
    if (!discards_ || !out_.over) return;
    if (!std::exchange(lingers_, true)) until_ = now + kLinger;
    if (now >= until_) in_.over = true;
    return;
  }
  if (channel_quiet_ || now >= until_) refuse({Errc::unavailable, "no answer in time"});
}

// Its certificate may have ended meanwhile, or been revoked.
bool Pump::Pair::peer_is_welcome(Duration now) {
  if (now < recheck_at_) return true;
  recheck_at_ = now + kRecheck;
  return channel_.recheck(wall_now()).has_value();
}

bool Pump::Pair::peer_is_dead() const {
  tcp_info info{};
  socklen_t size = sizeof info;
  return ::getsockopt(channel_.fd(), IPPROTO_TCP, TCP_INFO, &info, &size) == 0 &&
         info.tcpi_retransmits >= kDeadAfter;
}

pollfd Pump::Pair::plain_poll() const {
  const bool reads = phase_ == Phase::flowing && out_.roomy();
  const bool writes = phase_ == Phase::flowing && !in_.over && !in_.bytes.empty();
  return {plain_quiet_ ? -1 : plain_.get(),
          static_cast<short>((reads ? POLLIN : 0) | (writes ? POLLOUT : 0)), 0};
}

pollfd Pump::Pair::channel_poll() const {
  short events = 0;
  const auto want = [&](bool busy, Step waits, short usual) {
    if (busy)
      events = static_cast<short>(events | (waits == Step::wants_read    ? POLLIN
                                            : waits == Step::wants_write ? POLLOUT
                                                                         : usual));
  };
  want(in_.roomy(), in_.waits, POLLIN);
  want(!out_.bytes.empty(), out_.waits, POLLOUT);
  return {channel_quiet_ ? -1 : channel_.fd(), events, 0};
}

}  // namespace drover::relay
