// A client of one part of a step, for tests: speaks to the part's own socket as an agent would.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <csignal>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/driver/testing.h"
#include "agent/step/spec.h"
#include "base/overload.h"
#include "base/proto.h"
#include "base/resume.h"
#include "domain/step_launch.h"
#include "os/socket.h"

namespace drover::agent::testing {

class StepClient {
 public:
  StepClient(Node& node, std::string key) : node_(node), key_(std::move(key)) {}

  // "" or why not.
  std::string attach(AttachAs as = AttachAs::owner, std::uint32_t uid = 0, const std::string& ticket = "") {
    if (socket_) stream_.lost();
    socket_.reset();
    EXPECT_TRUE(poll_until([&] {
      auto connected = connect_stream(node_.driver().stream_path(key_));
      if (connected) socket_ = std::move(*connected);
      return connected.has_value();
    })) << "no part takes us";
    const StepAttach wish{.ticket = ticket, .as = as, .received = stream_.received()};
    const std::string hello = frame(encode(Introduction{.attach = encode(wish), .uid = uid}));
    EXPECT_EQ(::send(socket_.get(), hello.data(), hello.size(), MSG_NOSIGNAL), static_cast<ssize_t>(hello.size()));
    const StepAttached answer = read_answer();
    if (answer.error.empty()) {
      EXPECT_TRUE(stream_.connected(answer.received).has_value());
    }
    return answer.error;
  }
  void drop() {
    socket_.reset();
    stream_.lost();
  }
  void send(const StepUp& up) { stream_.send(encode(up)); }
  void type(std::string typed) { send(StepInput{.bytes = std::move(typed)}); }
  void type_end() { send(StepInput{.last = true}); }

  // Moves what can be moved until `done`, or nothing happens for long. True: done.
  bool until(const std::function<bool()>& done, Duration patience = seconds(20)) {
    const Duration end = since_boot() + patience;
    while (!done() && since_boot() < end && !closed_) move();
    return done();
  }
  // Until the part says goodbye.
  bool finish() {
    const bool ended = until([this] { return over.has_value(); });
    until([this] { return stream_.pending().empty(); });
    return ended;
  }

  std::map<std::uint32_t, std::string> out;
  std::map<std::uint32_t, std::string> err;
  std::map<std::uint32_t, TaskEnded> ends;
  std::map<std::uint32_t, std::int64_t> pids;
  std::vector<std::string> order;  // "out 0", "ended 0" ... as they came
  std::optional<PartEnded> over;
  std::size_t bytes = 0;
  bool keep = true;  // output, beside counting it
  [[nodiscard]] bool closed() const { return closed_; }
  [[nodiscard]] bool full() const { return stream_.full(); }

 private:
  StepAttached read_answer() {
    std::string bytes_read;
    for (;;) {
      pollfd ready{.fd = socket_.get(), .events = POLLIN};
      if (::poll(&ready, 1, 10'000) <= 0) return {.error = "no answer"};
      char byte = 0;
      if (::recv(socket_.get(), &byte, 1, 0) != 1) return {.error = "closed"};
      bytes_read.push_back(byte);
      std::string_view rest = bytes_read;
      bool whole = false;
      const auto message = take_frame(rest, whole);
      if (!whole) continue;
      const auto answer = decode<StepAttached>(*message);
      return answer ? *answer : StepAttached{.error = "rubbish"};
    }
  }

  void move() {
    const std::string_view pending = stream_.pending();
    pollfd ready{.fd = socket_.get(), .events = static_cast<short>(pending.empty() ? POLLIN : POLLIN | POLLOUT)};
    ::poll(&ready, 1, 20);
    if ((ready.revents & POLLOUT) != 0) {
      const ssize_t n = ::send(socket_.get(), pending.data(), pending.size(), MSG_NOSIGNAL);
      if (n > 0) stream_.wrote(static_cast<std::size_t>(n));
    }
    if ((ready.revents & ~POLLOUT) == 0) return;
    buffer_.resize(256 << 10);
    const ssize_t n = ::recv(socket_.get(), buffer_.data(), buffer_.size(), 0);
    if (n == 0) closed_ = true;
    if (n <= 0) return;
    const Status fed = stream_.feed({buffer_.data(), static_cast<std::size_t>(n)}, [this](std::string_view message) {
      const auto down = decode<StepDown>(message);
      ASSERT_TRUE(down.has_value());
      std::visit([this](const auto& m) { hear(m); }, *down);
    });
    EXPECT_TRUE(fed.has_value());
  }

  void hear(const StepOutput& m) {
    const bool is_out = m.channel == StepChannel::out;
    bytes += m.bytes.size();
    if (keep) (is_out ? out : err)[m.task] += m.bytes;
    const std::string entry = (m.bytes.empty() ? "end of " : "") + std::string(word(m.channel)) +
                              " " + std::to_string(m.task);
    if (keep) order.push_back(entry);
  }
  void hear(const TaskStarted& m) { pids[m.task] = m.pid; }
  void hear(const TaskEnded& m) {
    ends[m.task] = m;
    order.push_back("ended " + std::to_string(m.task));
  }
  void hear(const PartEnded& m) { over = m; }

  Node& node_;
  std::string key_;
  Fd socket_;
  bool closed_ = false;
  ResumableStream stream_;
  std::string buffer_;
};

// `count` tasks that run this shell script.
inline PartSpec shell_part(const std::string& script, std::uint32_t count = 1) {
  PartSpec spec{.environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}};
  for (std::uint32_t i = 0; i < count; ++i) spec.tasks.push_back({.id = i, .argv = {"sh", "-c", script}});
  return spec;
}

}  // namespace drover::agent::testing
