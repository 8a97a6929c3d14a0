#include "agent/step/output.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/proto.h"
#include "base/resume.h"

namespace drover::agent {
namespace {

constexpr std::size_t kLargestRead = std::size_t{256} << 10;
constexpr std::size_t kProbe = 512;

std::int64_t waiting_in(const Fd& fd) {
  int count = 0;
  return ::ioctl(fd.get(), FIONREAD, &count) == 0 ? count : 0;
}

// A varint of a fixed length, so that it can be written before its value is known.
void put_varint(std::string& bytes, std::size_t at, std::size_t length, std::uint64_t value) {
  for (std::size_t i = 0; i < length; ++i) {
    const std::uint64_t more = i + 1 < length ? 0x80U : 0U;
    bytes[at + i] = static_cast<char>((value & 0x7FU) | more);
    value >>= 7U;
  }
}

}  // namespace

// Field numbers and types as base/proto.h writes them: StepOutput is the first of StepDown.
void frame_output(std::string& framed, std::uint32_t task, StepChannel channel) {
  const std::size_t size = framed.size() - kOutputPrefix;
  framed[4] = 0x0A;
  put_varint(framed, 5, 4, size + 13);
  framed[9] = 0x08;
  put_varint(framed, 10, 5, task);
  framed[15] = 0x10;
  put_varint(framed, 16, 1, static_cast<std::uint64_t>(channel));
  framed[17] = 0x1A;
  put_varint(framed, 18, 4, size);
  begin_frame(framed);
}

void Output::add(std::uint32_t task, StepChannel channel, Fd source, bool terminal) {
  ready_.add(source.get(), EPOLLIN, sources_.size());
  sources_.push_back({.task = task, .channel = channel, .fd = std::move(source), .terminal = terminal});
  ++open_;
}

void Output::turn() {
  while (!audience_.full()) {
    const auto ready = ready_.ready();
    if (ready.empty()) return;
    for (const epoll_event& event : ready) {
      if (audience_.full()) return;
      read_from(sources_[event.data.u64]);
    }
    audience_.flush();
  }
}

void Output::read_from(Source& source) {
  if (!source.fd) return;
  const auto waiting = static_cast<std::size_t>(waiting_in(source.fd));
  std::string framed(kOutputPrefix + std::clamp(waiting, kProbe, kLargestRead), '\0');
  const ssize_t n = ::read(source.fd.get(), &framed[kOutputPrefix], framed.size() - kOutputPrefix);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n <= 0) return close(source);  // a terminal's end is EIO
  const auto got = static_cast<std::size_t>(n);
  framed.resize(kOutputPrefix + got);
  if (got < kProbe) framed.shrink_to_fit();  // many short lines may be kept
  frame_output(framed, source.task, source.channel);
  audience_.send(std::move(framed));
  if (source.own > 0) source.own -= std::min<std::int64_t>(source.own, n);
  if (source.last && source.own == 0) close(source);
}

void Output::close(Source& source) {
  ready_.remove(source.fd.get());
  source.fd.reset();
  source.own = 0;
  --open_;
  audience_.send(frame(encode(StepDown{StepOutput{.task = source.task, .channel = source.channel}})));
}

void Output::process_over(std::uint32_t task, Duration now) {
  for (Source& source : sources_) {
    if (source.task != task || !source.fd) continue;
    source.own = waiting_in(source.fd);
    if (source.terminal) source.settled_at = now + kTerminalDrain;
  }
}

void Output::all_over() {
  for (Source& source : sources_) {
    if (!source.fd || source.terminal) continue;  // a terminal without processes is at its end by itself
    source.last = true;
    source.own = waiting_in(source.fd);
    if (source.own == 0) close(source);
  }
}

bool Output::drained(std::uint32_t task, Duration now) const {
  return std::none_of(sources_.begin(), sources_.end(), [&](const Source& source) {
    if (source.task != task || !source.fd) return false;
    return source.terminal ? now < source.settled_at : source.own != 0;
  });
}

}  // namespace drover::agent
