#include "agent/shim/box.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <string>
#include <string_view>

#include "agent/pod/log.h"
#include "os/fd.h"
#include "os/file.h"

namespace drover::agent {
namespace {

constexpr std::size_t kLongestPart = std::size_t{16} << 10U;  // of a line; the rest follows as another part
constexpr const char* kNotFirst = "-998";                     // the kernel should rather take the program

class LogWriter {
 public:
  explicit LogWriter(std::string path) : path_(std::move(path)) { reopen(); }
  void take(std::size_t stream, std::string_view bytes) {
    std::string& partial = partial_[stream];
    partial += bytes;
    for (;;) {
      const std::size_t end = partial.find('\n');
      if (end == std::string::npos && partial.size() < kLongestPart) return;
      const bool whole = end != std::string::npos && end <= kLongestPart;
      const std::size_t length = whole ? end : kLongestPart;
      write(stream, whole, std::string_view(partial).substr(0, length));
      partial.erase(0, whole ? length + 1 : length);
    }
  }
  void close(std::size_t stream) {
    if (!partial_[stream].empty()) write(stream, true, partial_[stream]);
    partial_[stream].clear();
  }

 private:
  void reopen() {
    auto file = open_file(path_, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0640);
    if (file) file_ = std::move(*file);
  }
  void write(std::size_t stream, bool whole, std::string_view text) {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    std::tm parts{};
    ::gmtime_r(&now.tv_sec, &parts);
    std::array<char, 64> time{};
    const std::size_t length = std::strftime(time.data(), time.size(), "%Y-%m-%dT%H:%M:%S", &parts);
    std::array<char, 16> fraction{};
    std::snprintf(fraction.data(), fraction.size(), ".%09ldZ ", now.tv_nsec);
    std::string line = std::string(time.data(), length) + fraction.data();
    line.append(stream == 0 ? "stdout " : "stderr ").append(whole ? "F " : "P ").append(text).append("\n");
    if (file_) [[maybe_unused]] const ssize_t n = ::write(file_.get(), line.data(), line.size());
    written_ += static_cast<std::int64_t>(line.size());
    if (written_ < kLogSize / 8) return;
    written_ = 0;
    if (rotate_log(path_)) reopen();
  }

  std::string path_;
  Fd file_;
  std::array<std::string, 2> partial_;
  std::int64_t written_ = 0;  // since we last looked how large it is
};

void set_handlers(void (*handler)(int)) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) ::signal(signal, handler);
}

void spare_from_oom(const char* score) {
  const int file = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  [[maybe_unused]] const ssize_t n = ::write(file, score, std::string_view(score).size());
  ::close(file);
}

bool mount_all(const Box& box) {
  if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  if (box.own_pids && ::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0) return false;
  if (box.own_ipc && ::mount("shm", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") != 0) return false;
  for (const BoxMount& one : box.mounts) {
    if (::mount(one.source.c_str(), one.target.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0) return false;
    const unsigned long flags = MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV;
    if (one.read_only && ::mount(nullptr, one.target.c_str(), nullptr, flags, nullptr) != 0) return false;
  }
  return box.host_name.empty() || ::sethostname(box.host_name.data(), box.host_name.size()) == 0;
}

// Waits for all that ends, as the first process of a space of processes must.
int exit_of(pid_t program) {
  for (;;) {
    int status = 0;
    const pid_t ended = ::waitpid(-1, &status, 0);
    if (ended < 0 && errno == EINTR) continue;
    if (ended < 0) return 1;
    if (ended != program) continue;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
}

void write_log(const Box& box, std::array<Fd, 2>& outputs) {
  LogWriter log(box.log_path);
  while (outputs[0] || outputs[1]) {
    std::array<pollfd, 2> waiting{pollfd{.fd = outputs[0].get(), .events = POLLIN},
                                  pollfd{.fd = outputs[1].get(), .events = POLLIN}};
    if (::poll(waiting.data(), waiting.size(), -1) < 0) continue;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (!outputs[i] || waiting[i].revents == 0) continue;
      std::array<char, 16384> piece{};
      const ssize_t n = ::read(outputs[i].get(), piece.data(), piece.size());
      if (n < 0 && errno == EINTR) continue;
      if (n > 0) {
        log.take(i, {piece.data(), static_cast<std::size_t>(n)});
        continue;
      }
      log.close(i);
      outputs[i].reset();
    }
  }
}

}  // namespace

void run_in_box(const Box& box, const BoxSteps& steps) {
  std::array<std::array<int, 2>, 2> pipes{};
  for (auto& one : pipes) {
    if (::pipe2(one.data(), O_CLOEXEC) != 0) steps.fail(errno);
  }
  spare_from_oom(kNotFirst);
  // All of the box is asked to end at once; who writes its log goes last.
  set_handlers(SIG_IGN);
  const int spaces = CLONE_NEWNS | CLONE_NEWUTS | (box.own_ipc ? CLONE_NEWIPC : 0) | (box.own_pids ? CLONE_NEWPID : 0);
  if (::unshare(spaces) != 0) steps.fail(errno);
  const pid_t first = ::fork();
  if (first < 0) steps.fail(errno);
  if (first == 0) {
    if (!mount_all(box)) steps.fail(errno);
    const pid_t program = ::fork();
    if (program < 0) steps.fail(errno);
    if (program == 0) {
      spare_from_oom("0");
      set_handlers(SIG_DFL);
      ::dup2(pipes[0][1], STDOUT_FILENO);
      ::dup2(pipes[1][1], STDERR_FILENO);
      steps.program();
      ::_exit(127);
    }
    steps.let_go();
    for (const auto& one : pipes) {
      for (const int end : one) ::close(end);
    }
    ::_exit(exit_of(program));
  }
  steps.let_go();
  std::array<Fd, 2> outputs{Fd(pipes[0][0]), Fd(pipes[1][0])};
  for (const auto& one : pipes) ::close(one[1]);
  write_log(box, outputs);
  ::_exit(exit_of(first));
}

}  // namespace drover::agent
