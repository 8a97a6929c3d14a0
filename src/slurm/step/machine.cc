#include "slurm/step/machine.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

namespace drover::slurm {

Signals::Signals() {
  sigset_t ours;
  ::sigemptyset(&ours);
  for (const int number :
       {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGCONT, SIGWINCH}) {
    ::sigaddset(&ours, number);
  }
  ::sigprocmask(SIG_BLOCK, &ours, &before_);
  fd_ = Fd(::signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK));
  std::signal(SIGPIPE, SIG_IGN);
}

Signals::~Signals() { restore(); }

void Signals::restore() const {
  ::sigprocmask(SIG_SETMASK, &before_, nullptr);
  std::signal(SIGPIPE, SIG_DFL);
}

std::vector<int> Signals::take() const {
  std::vector<int> numbers;
  signalfd_siginfo info{};
  while (::read(fd_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    numbers.push_back(static_cast<int>(info.ssi_signo));
  }
  return numbers;
}

RawTerminal::RawTerminal(int fd) : fd_(fd) {
  if (::tcgetattr(fd_, &before_) != 0) return;
  termios raw = before_;
  ::cfmakeraw(&raw);
  changed_ = ::tcsetattr(fd_, TCSADRAIN, &raw) == 0;
}

RawTerminal::~RawTerminal() {
  if (changed_) ::tcsetattr(fd_, TCSADRAIN, &before_);
}

StepResize window_of(int fd) {
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0)
    return {.rows = 24, .columns = 80};
  return {.rows = size.ws_row, .columns = size.ws_col};
}

Result<Helper> Helper::start(const std::function<void(int out)>& work) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return Error{Errc::exhausted, std::strerror(errno)};
  Helper helper;
  helper.fd_ = Fd(ends[0]);
  Fd writer(ends[1]);
  const pid_t parent = ::getpid();
  helper.child_ = ::fork();
  if (helper.child_ < 0) return Error{Errc::exhausted, std::strerror(errno)};
  if (helper.child_ == 0) {
    // A key on the terminal is the program's own business; its death is ours.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(0);
    work(writer.get());
    ::_exit(0);
  }
  return helper;
}

Helper::Helper(Helper&& other) noexcept
    : child_(std::exchange(other.child_, -1)), fd_(std::move(other.fd_)) {}

Helper& Helper::operator=(Helper&& other) noexcept {
  if (this != &other) {
    stop();
    child_ = std::exchange(other.child_, -1);
    fd_ = std::move(other.fd_);
  }
  return *this;
}

void Helper::stop() {
  fd_.reset();
  if (child_ <= 0) return;
  ::kill(child_, SIGKILL);
  ::waitpid(std::exchange(child_, -1), nullptr, 0);
}

Result<Fd> open_output(const std::string& path, bool append) {
  Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | (append ? O_APPEND : O_TRUNC), 0666));
  if (!fd)
    return Error{Errc::denied, "Could not open stdout file " + path + ": " + std::strerror(errno)};
  return fd;
}

Result<Fd> open_input(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd)
    return Error{Errc::denied, "Could not open stdin file " + path + ": " + std::strerror(errno)};
  return fd;
}

bool is_socket(const std::string& path) {
  struct stat what {};
  return !path.empty() && ::stat(path.c_str(), &what) == 0 && S_ISSOCK(what.st_mode);
}

std::string address_of(const std::string& host) {
  addrinfo wanted{};
  wanted.ai_family = AF_INET;
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  std::string address = "127.0.0.1";
  if (::getaddrinfo(host.c_str(), nullptr, &wanted, &found) != 0) return address;
  sockaddr_in first{};
  if (found->ai_addrlen >= sizeof first) {
    std::memcpy(&first, found->ai_addr, sizeof first);
    std::array<char, INET_ADDRSTRLEN> text{};
    if (::inet_ntop(AF_INET, &first.sin_addr, text.data(), text.size()) != nullptr)
      address = text.data();
  }
  ::freeaddrinfo(found);
  return address;
}

}  // namespace drover::slurm
