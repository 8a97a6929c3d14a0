#include "os/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "base/text.h"
#include "os/file.h"

extern char** environ;  // NOLINT

namespace drover {
Result<pid_t> spawn(const std::vector<std::string>& argv, const std::string& log) {
  std::vector<char*> args;
  for (const std::string& arg : argv) args.push_back(const_cast<char*>(arg.c_str()));
  args.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
  const std::string errors = log.empty() ? "/dev/null" : log;
  ::posix_spawn_file_actions_addopen(&files, 2, errors.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0600);
  sigset_t none;
  sigset_t all;
  ::sigemptyset(&none);
  ::sigfillset(&all);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, argv.at(0).c_str(), &files, &attributes, args.data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) return system_error(error, "start " + argv.at(0));
  return pid;
}

namespace {

// Between two forks and exec: async-signal-safe calls only.
[[noreturn]] void become(char* const* args, int end, int report) {
  ::setsid();
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int signal : {SIGPIPE, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGCHLD, SIGTSTP}) ::signal(signal, SIG_DFL);
  constexpr int kAbove = 3;  // a caller may have closed his first three
  end = ::fcntl(end, F_DUPFD_CLOEXEC, kAbove);
  report = ::fcntl(report, F_DUPFD_CLOEXEC, kAbove);
  const int nothing = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (::dup2(end, 0) >= 0 && ::dup2(end, 1) >= 0 && ::dup2(nothing, 2) >= 0) {
    ::execve(args[0], args, environ);
  }
  const int error = errno;
  [[maybe_unused]] const auto told = ::write(report, &error, sizeof error);
  ::_exit(127);
}

}  // namespace

Result<Fd> spawn_connected(const std::vector<std::string>& argv) {
  std::vector<char*> args;
  for (const std::string& arg : argv) args.push_back(const_cast<char*>(arg.c_str()));
  args.push_back(nullptr);
  std::array<int, 2> ends{};
  std::array<int, 2> report{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return system_error(errno, "socketpair");
  Fd ours(ends[0]);
  const Fd theirs(ends[1]);
  if (::pipe2(report.data(), O_CLOEXEC) != 0) return system_error(errno, "pipe");
  const Fd hear(report[0]);
  Fd tell(report[1]);
  // Twice, so that a caller who waits for his own children meets no stranger.
  const pid_t between = ::fork();
  if (between == 0) {
    const pid_t child = ::fork();
    if (child == 0) become(args.data(), theirs.get(), tell.get());
    ::_exit(child < 0 ? 1 : 0);
  }
  if (between < 0) return system_error(errno, "fork");
  tell.reset();
  // Nothing comes when exec succeeded.
  int error = 0;
  ssize_t n = 0;
  do {
    n = ::read(hear.get(), &error, sizeof error);
  } while (n < 0 && errno == EINTR);
  const auto forked = wait_for(between);
  if (forked && *forked != 0) return system_error(EAGAIN, "fork");
  if (n == static_cast<ssize_t>(sizeof error)) return system_error(error, "start " + argv.at(0));
  if (::fcntl(ours.get(), F_SETFL, O_NONBLOCK) != 0) return system_error(errno, "fcntl");
  return ours;
}

Result<int> wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return system_error(errno, "wait for a child");
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string boot_id() {
  const auto id = read_file("/proc/sys/kernel/random/boot_id");
  return id ? std::string(trim(*id)) : std::string{};
}

std::string program_folder() {
  std::string path(4096, '\0');
  const ssize_t n = ::readlink("/proc/self/exe", path.data(), path.size());
  path.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return path.substr(0, path.rfind('/'));
}

}  // namespace drover
