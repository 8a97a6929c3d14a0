#include "agent/step/input.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace drover::agent {
namespace {

constexpr char kEndOfTransmission = 4;  // what a terminal takes for the end of input

}  // namespace

void Input::add(Fd sink, bool terminal) { sinks_.push_back({.fd = std::move(sink), .terminal = terminal}); }

void Input::put(std::string_view bytes) {
  if (finished_ || bytes.empty()) return;
  chunks_.emplace_back(bytes);
  end_ += bytes.size();
}

void Input::finish() {
  if (std::exchange(finished_, true)) return;
  for (Sink& sink : sinks_) {
    if (!sink.terminal || !sink.fd) continue;
    chunks_.emplace_back(1, kEndOfTransmission);
    ++end_;
    return;
  }
}

void Input::turn() {
  for (Sink& sink : sinks_) write_to(sink);
  drop_taken();
}

void Input::write_to(Sink& sink) {
  if (!sink.fd) return;
  write_some(sink);
  const bool lags = sink.fd && sink.at < end_;
  if (sink.fd && lags != sink.watched) {
    if (lags) ready_.add(sink.fd.get(), EPOLLOUT, 0);
    if (!lags) ready_.remove(sink.fd.get());
    sink.watched = lags;
  }
  if (sink.fd && !lags && finished_) sink.fd.reset();
}

void Input::write_some(Sink& sink) {
  std::uint64_t at = begin_;
  for (const std::string& chunk : chunks_) {
    while (sink.at < at + chunk.size()) {
      const std::size_t from = sink.at - at;
      const ssize_t n = ::write(sink.fd.get(), chunk.data() + from, chunk.size() - from);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno == EAGAIN) return;
      if (n < 0) {  // nobody reads it any more
        if (std::exchange(sink.watched, false)) ready_.remove(sink.fd.get());
        sink.fd.reset();
        return;
      }
      sink.at += static_cast<std::uint64_t>(n);
    }
    at += chunk.size();
  }
}

void Input::drop_taken() {
  std::uint64_t taken = end_;
  for (const Sink& sink : sinks_) {
    if (sink.fd) taken = std::min(taken, sink.at);
  }
  while (!chunks_.empty() && begin_ + chunks_.front().size() <= taken) {
    begin_ += chunks_.front().size();
    chunks_.pop_front();
  }
}

}  // namespace drover::agent
