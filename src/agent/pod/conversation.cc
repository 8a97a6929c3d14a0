#include "agent/pod/conversation.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/overload.h"
#include "base/proto.h"
#include "base/resume.h"
#include "os/clock.h"
#include "os/file.h"

namespace drover::agent {
namespace {

constexpr Duration kOpeningPatience = seconds(5);
constexpr std::size_t kPiece = std::size_t{32} << 10U;
constexpr std::size_t kInputKept = std::size_t{256} << 10U;  // what a command hasn't read yet; then the client waits

// Reads once. False: nothing more will come.
bool read_some(int from, std::string& into) {
  std::array<char, kPiece> piece{};
  const ssize_t n = ::read(from, piece.data(), piece.size());
  if (n > 0) into.append(piece.data(), static_cast<std::size_t>(n));
  return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

}  // namespace

bool Conversation::fill() {
  broken_ = broken_ || !read_some(socket_.get(), arrived_);
  return !broken_;
}

Result<PodAttach> Conversation::opening() {
  const Duration until = since_boot() + kOpeningPatience;
  for (;;) {
    std::string_view bytes = arrived_;
    bool whole = false;
    const std::string_view message = TRY(take_frame(bytes, whole));
    if (whole) {
      auto wish = decode<PodAttach>(message);
      arrived_ = std::string(bytes);
      return wish;
    }
    std::array<pollfd, 2> waiting{pollfd{.fd = socket_.get(), .events = POLLIN},
                                  pollfd{.fd = stop_, .events = POLLIN}};
    const auto left = std::max<std::int64_t>(0, (until - since_boot()).count());
    if (::poll(waiting.data(), waiting.size(), static_cast<int>(left)) <= 0 || waiting[1].revents != 0 || !fill()) {
      return Error{Errc::unavailable, "no request came"};
    }
  }
}

bool Conversation::write(std::string_view bytes) {
  while (!bytes.empty() && !broken_) {
    const ssize_t n = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(n));
      continue;
    }
    if (n < 0 && errno != EAGAIN && errno != EINTR) broken_ = true;
    std::array<pollfd, 2> waiting{pollfd{.fd = socket_.get(), .events = POLLOUT},
                                  pollfd{.fd = stop_, .events = POLLIN}};
    if (!broken_) ::poll(waiting.data(), waiting.size(), -1);
    broken_ = broken_ || waiting[1].revents != 0;
  }
  return !broken_;
}

bool Conversation::send(const PodAttached& answer) { return write(frame(encode(answer))); }
bool Conversation::say(bool error, std::string_view bytes) {
  return write(frame(encode(PodDown{PodOutput{.error = error, .bytes = std::string(bytes)}})));
}
bool Conversation::end(const PodStreamEnded& last) { return write(frame(encode(PodDown{last}))); }

bool Conversation::pause(Duration time) {
  const Duration until = since_boot() + time;
  while (!broken_ && since_boot() < until) {
    std::array<pollfd, 2> waiting{pollfd{.fd = socket_.get(), .events = POLLIN},
                                  pollfd{.fd = stop_, .events = POLLIN}};
    ::poll(waiting.data(), waiting.size(), static_cast<int>((until - since_boot()).count()));
    broken_ = broken_ || waiting[1].revents != 0;
    if (waiting[0].revents != 0) fill();
    arrived_.clear();
  }
  return !broken_;
}

std::optional<PodUp> Conversation::take() {
  std::string_view bytes = arrived_;
  bool whole = false;
  const auto message = take_frame(bytes, whole);
  if (!message) broken_ = true;
  if (!message || !whole) return std::nullopt;
  auto up = decode<PodUp>(*message);
  arrived_ = std::string(bytes);
  if (!up) broken_ = true;
  return up ? std::optional(*std::move(up)) : std::nullopt;
}

void Conversation::heed(const Ends& ends, const Hooks& hooks) {
  while (const auto up = take()) {
    std::visit(Overload{[&](const PodInput& input) {
                          if (ends.in >= 0 && !input_over_) input_ += input.bytes;
                          input_over_ = input_over_ || input.last;
                        },
                        [&](const PodResize& size) {
                          if (hooks.resize) hooks.resize(size.rows, size.columns);
                        }},
               *up);
  }
}

// What the client said, to the command; then that it was all.
void Conversation::feed(Ends& ends, const Hooks& hooks) {
  while (ends.in >= 0 && !input_.empty()) {
    const ssize_t n = ::write(ends.in, input_.data(), input_.size());
    if (n < 0 && errno == EAGAIN) return;
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {  // it reads no more
      input_.clear();
      ends.in = -1;
      return;
    }
    input_.erase(0, static_cast<std::size_t>(n));
  }
  if (ends.in >= 0 && input_over_ && input_.empty()) {
    ends.in = -1;
    if (hooks.input_ended) hooks.input_ended();
  }
}

bool Conversation::carry(Ends ends, const Hooks& hooks) {
  heed(ends, hooks);  // what came right behind the opening
  while (ends.out >= 0 || ends.err >= 0) {
    feed(ends, hooks);
    const bool roomy = input_.size() < kInputKept;
    std::array<pollfd, 5> waiting{
        pollfd{.fd = stop_, .events = POLLIN}, pollfd{.fd = roomy ? socket_.get() : -1, .events = POLLIN},
        pollfd{.fd = ends.out, .events = POLLIN}, pollfd{.fd = ends.err, .events = POLLIN},
        pollfd{.fd = input_.empty() ? -1 : ends.in, .events = POLLOUT}};
    if (::poll(waiting.data(), waiting.size(), -1) < 0 && errno != EINTR) return false;
    if (waiting[0].revents != 0) broken_ = true;
    if (waiting[1].revents != 0 && fill()) heed(ends, hooks);
    for (const bool error : {false, true}) {
      int& end = error ? ends.err : ends.out;
      if (broken_ || end < 0 || waiting[error ? 3 : 2].revents == 0) continue;
      std::string bytes;
      if (!read_some(end, bytes)) end = -1;
      if (!bytes.empty()) say(error, bytes);
    }
    if (broken_) return false;
  }
  return true;
}

}  // namespace drover::agent
