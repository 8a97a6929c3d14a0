#include "member/conduit.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <iterator>

namespace drover::member {
namespace {

constexpr std::size_t kPiece = std::size_t{64} << 10U;
using Step = tls::Channel::Step;

class Conduit {
 public:
  Conduit(const Fd& plain, tls::Channel& channel) : plain_(plain), channel_(channel) {}

  Status run() {
    while (!over()) {
      if (move()) continue;
      if (plain_hung_up_ && out_.empty()) break;  // nobody is left to hear an answer
      pollfd watched[] = {{plain_hung_up_ ? -1 : plain_.get(), plain_events(), 0},
                          {channel_.fd(), channel_events(), 0}};
      ::poll(watched, std::size(watched), -1);
      plain_hung_up_ =
          plain_hung_up_ || (plain_ended_ && (watched[0].revents & (POLLHUP | POLLERR)) != 0);
    }
    if (failed_ && !heard_) return channel_.error();
    return Done{};
  }

 private:
  [[nodiscard]] bool over() const { return plain_gone_ || (channel_ended_ && in_.empty()); }

  // Everything that can be done without waiting; false: nothing could.
  bool move() {
    const bool a = from_plain();
    const bool b = to_channel();
    const bool c = from_channel();
    const bool d = to_plain();
    return a || b || c || d;
  }

  bool from_plain() {
    if (plain_ended_ || out_.size() >= kPiece) return false;
    const ssize_t n = ::recv(plain_.get(), piece_.data(), piece_.size(), MSG_DONTWAIT);
    if (n < 0) {
      plain_gone_ = errno != EAGAIN && errno != EINTR;
      return plain_gone_;
    }
    if (n == 0) plain_ended_ = true;
    out_.append(piece_.data(), static_cast<std::size_t>(n));
    return true;
  }

  bool to_channel() {
    if (out_.empty()) {
      if (plain_ended_ && !said_end_) {
        said_end_ = true;
        channel_.finish();
      }
      return false;
    }
    const auto moved = channel_.write(out_);
    write_waits_ = moved.step;
    if (moved.step == Step::failed) return fail();
    if (moved.step != Step::done) return false;
    out_.erase(0, moved.size);
    return true;
  }

  bool from_channel() {
    if (channel_ended_ || in_.size() >= kPiece) return false;
    const auto moved = channel_.read(piece_);
    read_waits_ = moved.step;
    if (moved.step == Step::failed) return fail();
    if (moved.step == Step::end) channel_ended_ = true;
    if (moved.step != Step::done) return channel_ended_;
    heard_ = true;
    in_.append(piece_.data(), moved.size);
    return true;
  }

  bool to_plain() {
    if (in_.empty()) return false;
    const ssize_t n = ::send(plain_.get(), in_.data(), in_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0) {
      plain_gone_ = errno != EAGAIN && errno != EINTR;
      return plain_gone_;
    }
    in_.erase(0, static_cast<std::size_t>(n));
    return true;
  }

  bool fail() {
    failed_ = channel_ended_ = true;
    out_.clear();
    return true;
  }

  [[nodiscard]] short plain_events() const {
    const int in = !plain_ended_ && out_.size() < kPiece ? POLLIN : 0;
    return static_cast<short>(in | (in_.empty() ? 0 : POLLOUT));
  }
  [[nodiscard]] short channel_events() const {
    const bool reading = in_.size() < kPiece;
    int events = reading ? POLLIN : 0;
    if (reading && read_waits_ == Step::wants_write) events |= POLLOUT;
    if (!out_.empty() && write_waits_ == Step::wants_write) events |= POLLOUT;
    return static_cast<short>(events);
  }

  const Fd& plain_;
  tls::Channel& channel_;
  std::array<char, kPiece> piece_{};
  std::string out_;  // to the channel
  std::string in_;   // from it
  Step write_waits_ = Step::done;
  Step read_waits_ = Step::done;
  bool plain_ended_ = false;    // has said all
  bool plain_hung_up_ = false;  // closed both ways: poll would only repeat that
  bool plain_gone_ = false;
  bool channel_ended_ = false;
  bool said_end_ = false;
  bool failed_ = false;
  bool heard_ = false;
};

}  // namespace

Status carry(const Fd& plain, tls::Channel& channel) { return Conduit(plain, channel).run(); }

}  // namespace drover::member
