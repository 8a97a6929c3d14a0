#include "slurm/step/link.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/proto.h"
#include "base/text.h"
#include "native/login.h"
#include "os/socket.h"

namespace drover::slurm {
namespace {

constexpr Duration kFirstPause{20};
constexpr Duration kLongestPause{500};
constexpr std::size_t kPiece = std::size_t{256} << 10U;  // the more whole messages in one read, the less is joined

}  // namespace

Link::Link(StepAttach hello, std::string path, Duration now)
    : hello_(std::move(hello)),
      path_(std::move(path)),
      broken_since_(now),
      retry_at_(now),
      pause_(kFirstPause) {}

void Link::advance(Duration now) {
  if (socket_ || finished() || now < retry_at_) return;
  auto socket = native::is_login(path_) ? native::dial_stream(path_) : connect_stream(path_);
  if (!socket) return broken("no agent answers: " + socket.error().message, now);
  socket_ = std::move(socket).value();
  greeting_ = true;
  hello_.received = stream_.received();
  out_ = frame(encode(hello_));
  in_.clear();
  handed_.reset();
}

short Link::events(bool want_input) const {
  const bool writing = greeting_ ? !out_.empty() : !stream_.pending().empty();
  const int wanted = (want_input || greeting_ ? POLLIN : 0) | (writing ? POLLOUT : 0);
  return static_cast<short>(wanted);
}

void Link::ready(short seen, Duration now, const std::function<void(StepDown&)>& on_message) {
  if (!socket_) return;
  if ((seen & (POLLIN | POLLHUP | POLLERR)) != 0) read_some(now, on_message);
  if (socket_) write_some(now);
}

void Link::send(const StepUp& message) {
  if (!finished()) stream_.send(encode(message));
}

void Link::read_some(Duration now, const std::function<void(StepDown&)>& on_message) {
  std::array<char, kPiece>
      buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled by the read
  auto arrived = receive_with_descriptor(socket_.get(), buffer.data(), buffer.size());
  if (!arrived) return broken(arrived.error().message, now);
  if (arrived->closed) return broken("the connection was closed", now);
  if (arrived->descriptor) handed_ = std::move(arrived->descriptor);
  if (arrived->bytes == 0) return;
  const std::string_view bytes(buffer.data(), arrived->bytes);
  if (!greeting_) {
    feed(bytes, on_message);
    return;
  }
  in_ += bytes;
  greeted(now, on_message);
}

void Link::greeted(Duration now, const std::function<void(StepDown&)>& on_message) {
  std::string_view rest = in_;
  bool whole = false;
  const auto message = take_frame(rest, whole);
  if (!message) return give_up(message.error().message);
  if (!whole) return;
  const auto attached = decode<StepAttached>(message.value());
  if (!attached) return give_up(attached.error().message);
  if (attached->again)
    return broken(attached->error.empty() ? "the node isn't ready" : attached->error, now);
  if (!attached->error.empty()) return give_up(attached->error);
  if (const auto going_on = stream_.connected(attached->received); !going_on)
    return give_up(going_on.error().message);
  greeting_ = false;
  broken_since_ = Duration(-1);
  pause_ = kFirstPause;
  why_.clear();
  if (handed_) {
    socket_ = std::move(handed_);
    rest = {};
  }
  const std::string beginning(rest);
  in_.clear();
  if (!beginning.empty()) feed(beginning, on_message);
}

void Link::feed(std::string_view bytes, const std::function<void(StepDown&)>& on_message) {
  std::string damage;
  const auto fed = stream_.feed(bytes, [&](std::string_view message) {
    auto down = decode<StepDown>(message);
    if (!down) {
      damage = down.error().message;
      return;
    }
    over_ = over_ || std::holds_alternative<PartEnded>(down.value());
    on_message(down.value());
  });
  if (!fed) return give_up(fed.error().message);
  if (!damage.empty()) give_up(damage);
}

void Link::write_some(Duration now) {
  while (socket_) {
    const std::string_view next = greeting_ ? std::string_view(out_) : stream_.pending();
    if (next.empty()) break;
    const ssize_t size = ::send(socket_.get(), next.data(), next.size(), MSG_NOSIGNAL);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (size <= 0) {
      broken(std::strerror(errno), now);
      return;
    }
    if (greeting_) {
      out_.erase(0, static_cast<std::size_t>(size));
    } else {
      stream_.wrote(static_cast<std::size_t>(size));
    }
  }
  // The last word is confirmed: nothing is left to say.
  if (over_ && !greeting_) socket_.reset();
}

void Link::broken(std::string why, Duration now) {
  socket_.reset();
  handed_.reset();
  greeting_ = false;
  stream_.lost();
  if (over_) return;  // all has been said
  if (broken_since_ < Duration(0)) broken_since_ = now;
  why_ = printable(why);
  retry_at_ = now + pause_;
  pause_ = std::min(pause_ * 2, kLongestPause);
}

void Link::give_up(std::string why) {
  socket_.reset();
  greeting_ = false;
  refused_ = printable(why.empty() ? "the stream is damaged" : why);
}

}  // namespace drover::slurm
