// What a command that stays with its job needs of the machine: signals as something to read, a raw
// terminal, a helper process beside it.
#pragma once

#include <sys/types.h>
#include <termios.h>

#include <csignal>

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "domain/step_launch.h"
#include "os/fd.h"

namespace drover::slurm {

// While it lives, the signals that concern a job are read from fd() instead of ending the program.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] std::vector<int> take() const;
  // In a child: as they were before.
  void restore() const;

 private:
  Fd fd_;
  sigset_t before_{};
};

// Every key goes through unchanged until it is destroyed. Does nothing to what is no terminal.
class RawTerminal {
 public:
  explicit RawTerminal(int fd);
  ~RawTerminal();
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;

 private:
  int fd_;
  bool changed_ = false;
  termios before_{};
};
[[nodiscard]] StepResize window_of(int fd);

// A copy of this program that does one thing beside it, may write to `out`, and never outlives it.
class Helper {
 public:
  Helper() = default;
  [[nodiscard]] static Result<Helper> start(const std::function<void(int out)>& work);
  Helper(Helper&& other) noexcept;
  Helper& operator=(Helper&& other) noexcept;
  ~Helper() { stop(); }
  [[nodiscard]] int fd() const {
    return fd_.get();
  }  // readable when it has written something, or is gone
  void stop();

 private:
  pid_t child_ = -1;
  Fd fd_;
};

[[nodiscard]] Result<Fd> open_output(const std::string& path, bool append);
[[nodiscard]] Result<Fd> open_input(const std::string& path);
[[nodiscard]] bool is_socket(const std::string& path);
// "10.0.0.3", or 127.0.0.1 when the name says no more.
[[nodiscard]] std::string address_of(const std::string& host);

}  // namespace drover::slurm
