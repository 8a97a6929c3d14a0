#include "slurm/step/writer.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

namespace drover::slurm {

Writer::Writer(int fd) : fd_(fd) {
  struct stat what {};
  file_ = fd >= 0 && ::fstat(fd, &what) == 0 && S_ISREG(what.st_mode);
}

void Writer::put(std::string_view bytes) {
  if (fd_ >= 0) waiting_ += bytes;
}

bool Writer::turn() {
  if (empty() || fd_ < 0) return true;
  // A pipe that is ready takes this much at once.
  const std::size_t most = file_ ? waiting_.size() : PIPE_BUF;
  const ssize_t size = ::write(fd_, waiting_.data() + at_, std::min(most, waiting_.size() - at_));
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
