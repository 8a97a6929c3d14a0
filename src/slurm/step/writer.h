// Writes to a descriptor that others share (a terminal, a pipe of the caller's) without ever
// blocking and without changing how it works for them.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

namespace drover::slurm {

class Writer {
 public:
  explicit Writer(int fd);  // not owned; -1: what comes is dropped
  void put(std::string_view bytes);
  [[nodiscard]] bool empty() const { return at_ >= waiting_.size(); }
  // So much waits that nothing more should be read for it.
  [[nodiscard]] bool full() const { return waiting_.size() - at_ > kRoom; }
  [[nodiscard]] int fd() const { return fd_; }
  // poll said that it is writable. False: nobody reads any more.
  bool turn();

 private:
  [[nodiscard]] ssize_t write_some(std::string_view bytes);

  static constexpr std::size_t kRoom = std::size_t{1} << 20U;
  int fd_;
  bool file_ = false;
  bool can_ask_ = true;  // kernels before 6.5 can't be asked for pipes
  std::string waiting_;
  std::size_t at_ = 0;
};

}  // namespace drover::slurm
