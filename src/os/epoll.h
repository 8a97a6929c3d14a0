// Many descriptors behind one: readable when one of them is ready. Ready ones come in turn, so that
// none waits behind another that is always ready.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstdint>
#include <span>

#include "os/fd.h"

namespace drover {

class Epoll {
 public:
  Epoll() : fd_(::epoll_create1(EPOLL_CLOEXEC)) {}

  [[nodiscard]] int fd() const { return fd_.get(); }
  // False: this kind of file can't be waited for (a plain file is always ready).
  bool add(int fd, std::uint32_t events, std::uint64_t tag) { return control(EPOLL_CTL_ADD, fd, events, tag); }
  void change(int fd, std::uint32_t events, std::uint64_t tag) { control(EPOLL_CTL_MOD, fd, events, tag); }
  void remove(int fd) { control(EPOLL_CTL_DEL, fd, 0, 0); }

  // Those that are ready now, a few at a time; never waits.
  [[nodiscard]] std::span<const epoll_event> ready() {
    const int count = ::epoll_wait(fd_.get(), events_.data(), static_cast<int>(events_.size()), 0);
    return {events_.data(), count > 0 ? static_cast<std::size_t>(count) : 0};
  }

 private:
  bool control(int operation, int fd, std::uint32_t events, std::uint64_t tag) {
    epoll_event event{.events = events, .data = {.u64 = tag}};
    return ::epoll_ctl(fd_.get(), operation, fd, &event) == 0;
  }

  Fd fd_;
  std::array<epoll_event, 64> events_{};
};

}  // namespace drover
