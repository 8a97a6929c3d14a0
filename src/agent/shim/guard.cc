#include "agent/shim/guard.h"

#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

namespace drover::agent {

std::int64_t microseconds_of(const timeval& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000 + time.tv_usec;
}

void become_guardian(const char* name) {
  ::setsid();
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  ::prctl(PR_SET_NAME, name, 0, 0, 0);
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
}

Fd child_signals() {
  sigset_t child_only;
  ::sigemptyset(&child_only);
  ::sigaddset(&child_only, SIGCHLD);
  return Fd(::signalfd(-1, &child_only, SFD_CLOEXEC | SFD_NONBLOCK));
}

void take_child_signals(const Fd& signals) {
  signalfd_siginfo info{};
  while (::read(signals.get(), &info, sizeof(info)) > 0) {
  }
}

void Alarm::set(std::initializer_list<Deadline> deadlines) {
  Deadline next;
  for (const Deadline& one : deadlines) {
    if (one && (!next || *one < *next)) next = one;
  }
  if (next == armed_) return;
  armed_ = next;
  if (!timer_) timer_ = Fd(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK));
  itimerspec when{};
  if (next) {
    const auto ms = std::max<Duration::rep>(next->count(), 1);
    when.it_value = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1'000'000};
  }
  ::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &when, nullptr);
}

void Alarm::rang() {
  std::uint64_t times = 0;
  [[maybe_unused]] const ssize_t n = ::read(timer_.get(), &times, sizeof(times));
  armed_.reset();
}

bool due(Deadline& deadline, Duration now) {
  if (!deadline || *deadline > now) return false;
  deadline.reset();
  return true;
}

}  // namespace drover::agent
