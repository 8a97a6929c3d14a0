#include "slurm/step/writer.h"

#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

namespace drover::slurm {

Writer::Writer(int fd) : fd_(fd) {
  struct stat what {};
  // Regular files, /dev/null and the like never make a writer wait.
  file_ = fd >= 0 && ::fstat(fd, &what) == 0 &&
          (S_ISREG(what.st_mode) || (S_ISCHR(what.st_mode) && ::isatty(fd) == 0));
}

// As much as there is room for, where the kernel can be asked so; else what a pipe that is ready takes at once.
ssize_t Writer::write_some(std::string_view bytes) {
  if (file_) return ::write(fd_, bytes.data(), bytes.size());
  if (can_ask_) {
    const iovec piece{.iov_base = const_cast<char*>(bytes.data()), .iov_len = bytes.size()};
    const ssize_t size = ::pwritev2(fd_, &piece, 1, -1, RWF_NOWAIT);
    if (size >= 0 || (errno != EOPNOTSUPP && errno != ENOSYS && errno != EINVAL && errno != ESPIPE)) return size;
    can_ask_ = false;
  }
  return ::write(fd_, bytes.data(), std::min<std::size_t>(PIPE_BUF, bytes.size()));
}

void Writer::put(std::string_view bytes) {
  if (fd_ >= 0) waiting_ += bytes;
}

bool Writer::turn() {
  if (empty() || fd_ < 0) return true;
  const ssize_t size = write_some(std::string_view(waiting_).substr(at_));
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (size < 0) {
    fd_ = -1;
    waiting_.clear();
    at_ = 0;
    return false;
  }
  at_ += static_cast<std::size_t>(size);
  if (at_ >= waiting_.size()) {
    waiting_.clear();
    at_ = 0;
  } else if (at_ > kRoom) {
    waiting_.erase(0, at_);
    at_ = 0;
  }
  return true;
}

}  // namespace drover::slurm
