// What the client types, to one task or to all: the slowest reader holds the others back, so that what
// is kept stays small.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "os/epoll.h"
#include "os/fd.h"

namespace drover::agent {

class Input {
 public:
  // `sink` is the writing end of a pipe, or a terminal's near side.
  void add(Fd sink, bool terminal);
  // Writable when a reader that lags behind can take more.
  [[nodiscard]] int fd() const { return ready_.fd(); }
  void put(std::string_view bytes);
  void finish();  // no more comes
  void turn();
  // More than should wait here: the client is to hold back.
  [[nodiscard]] bool full() const { return waiting() > kRoom; }
  [[nodiscard]] bool roomy() const { return waiting() < kRoom / 4; }

 private:
  static constexpr std::size_t kRoom = std::size_t{256} << 10;
  struct Sink {
    Fd fd;
    bool terminal = false;
    bool watched = false;
    std::uint64_t at = 0;  // bytes taken since the beginning
  };
  [[nodiscard]] std::size_t waiting() const { return end_ - begin_; }
  void write_to(Sink& sink);
  void write_some(Sink& sink);
  void drop_taken();

  Epoll ready_;
  std::vector<Sink> sinks_;
  std::deque<std::string> chunks_;
  std::uint64_t begin_ = 0;  // of chunks_
  std::uint64_t end_ = 0;
  bool finished_ = false;
};

}  // namespace drover::agent
