#include "kube_stream/played_agent.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <optional>

#include "base/proto.h"
#include "base/resume.h"
#include "os/socket.h"

namespace drover::kube {
namespace {

bool say_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EAGAIN) {
      pollfd p{fd, POLLOUT, 0};
      ::poll(&p, 1, 1000);
      continue;
    }
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}
template <class Message>
bool tell(int fd, const Message& message) {
  return say_all(fd, frame(encode(message)));
}
bool output(int fd, std::string_view bytes, bool error = false) {
  return tell(fd, PodDown{PodOutput{.error = error, .bytes = std::string(bytes)}});
}

// Frames as they come; nothing is there when the peer has gone.
class Frames {
 public:
  explicit Frames(int fd) : fd_(fd) {}
  // Waits for one.
  std::optional<std::string> next() {
    for (;;) {
      if (auto one = taken()) return one;
      pollfd p{fd_, POLLIN, 0};
      ::poll(&p, 1, -1);
      if (!read()) return std::nullopt;
    }
  }
  bool read() {
    std::array<char, 65536> piece{};
    const ssize_t n = ::recv(fd_, piece.data(), piece.size(), MSG_DONTWAIT);
    if (n < 0 && errno == EAGAIN) return true;
    if (n <= 0) return false;
    bytes_.append(piece.data(), static_cast<std::size_t>(n));
    return true;
  }
  std::optional<std::string> taken() {
    std::string_view rest = bytes_;
    bool whole = false;
    const auto message = take_frame(rest, whole);
    if (!message || !whole) return std::nullopt;
    std::string one(*message);
    bytes_.erase(0, bytes_.size() - rest.size());
    return one;
  }

 private:
  int fd_;
  std::string bytes_;
};

// A command, or a connection: where its input goes and where its output comes from.
struct Child {
  pid_t pid = -1;
  Fd in;
  Fd out;
  Fd err;
};

Child spawn(const PodAttach& ask) {
  std::vector<char*> argv;
  for (const std::string& word : ask.command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  Child child;
  if (ask.terminal) {
    int master = -1;
    child.pid = ::forkpty(&master, nullptr, nullptr, nullptr);
    if (child.pid == 0) {
      ::execvp(argv[0], argv.data());
      ::_exit(127);
    }
    child.in = Fd(::fcntl(master, F_DUPFD_CLOEXEC, 0));
    child.out = Fd(master);
    return child;
  }
  std::array<int, 2> in{};
  std::array<int, 2> out{};
  std::array<int, 2> err{};
  if (::pipe2(in.data(), O_CLOEXEC) != 0 || ::pipe2(out.data(), O_CLOEXEC) != 0 ||
      ::pipe2(err.data(), O_CLOEXEC) != 0)
    return child;
  child.pid = ::fork();
  if (child.pid == 0) {
    ::dup2(in[0], 0);
    ::dup2(out[1], 1);
    ::dup2(err[1], 2);
    ::signal(SIGPIPE, SIG_DFL);
    ::execvp(argv[0], argv.data());
    ::_exit(127);
  }
  ::close(in[0]);
  ::close(out[1]);
  ::close(err[1]);
  child.in = Fd(in[1]);
  child.out = Fd(out[0]);
  child.err = Fd(err[0]);
  return child;
}

// Carries bytes until all outputs have ended; false: the client has gone.
bool carry(int client, Child& child, bool terminal) {
  Frames frames(client);
  std::string pending;
  bool input_over = false;
  if (child.in.get() >= 0)
    ::fcntl(child.in.get(), F_SETFL, ::fcntl(child.in.get(), F_GETFL) | O_NONBLOCK);
  std::array<char, 32768> piece{};
  while (child.out || child.err) {
    while (pending.size() < 65536) {
      const auto message = frames.taken();
      if (!message) break;
      const auto up = decode<PodUp>(*message);
      if (!up) return false;
      if (const auto* size = std::get_if<PodResize>(&*up)) {
        const winsize w{static_cast<unsigned short>(size->rows),
                        static_cast<unsigned short>(size->columns), 0, 0};
        if (terminal) ::ioctl(child.out.get(), TIOCSWINSZ, &w);
      } else if (std::get<PodInput>(*up).last) {
        input_over = true;
      } else if (child.in) {
        pending += std::get<PodInput>(*up).bytes;
      }
    }
    if (input_over && pending.empty() && child.in && !terminal) {
      ::shutdown(child.in.get(), SHUT_WR);  // of a connection
      child.in.reset();
    }
    std::array<pollfd, 4> p{{{client, static_cast<short>(pending.size() < 65536 ? POLLIN : 0), 0},
                             {pending.empty() ? -1 : child.in.get(), POLLOUT, 0},
                             {child.out.get(), POLLIN, 0},
                             {child.err.get(), POLLIN, 0}}};
    ::poll(p.data(), p.size(), -1);
    if (p[0].revents != 0 && !frames.read()) return false;
    if (p[1].revents != 0) {
      const ssize_t n = ::write(child.in.get(), pending.data(), pending.size());
      if (n > 0)
        pending.erase(0, static_cast<std::size_t>(n));
      else if (errno != EAGAIN) {
        child.in.reset();
        pending.clear();
      }
    }
    for (const int i : {2, 3}) {
      Fd& from = i == 2 ? child.out : child.err;
      if (p[static_cast<std::size_t>(i)].revents == 0) continue;
      const ssize_t n = ::read(from.get(), piece.data(), piece.size());
      if (n <= 0)
        from.reset();
      else if (!output(client, {piece.data(), static_cast<std::size_t>(n)}, i == 3))
        return false;
    }
  }
  return true;
}

void run(int client, const PodAttach& ask) {
  tell(client, PodAttached{});
  Child child = spawn(ask);
  const bool stayed = carry(client, child, ask.terminal);
  if (!stayed) ::kill(child.pid, SIGKILL);
  child.in.reset();
  int status = 0;
  ::waitpid(child.pid, &status, 0);
  PodStreamEnded ended;
  if (WIFEXITED(status))
    ended.exit.code = WEXITSTATUS(status);
  else
    ended.exit.signal = WTERMSIG(status);
  tell(client, PodDown{ended});
}

void forward(int client, const PodAttach& ask) {
  Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(static_cast<std::uint16_t>(ask.port));
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd.get(), reinterpret_cast<sockaddr*>(&at), sizeof at) != 0) {
    tell(client, PodAttached{.error = "connection refused"});
    return;
  }
  tell(client, PodAttached{});
  Child child{.in = Fd(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0)), .out = std::move(fd)};
  if (carry(client, child, false)) tell(client, PodDown{PodStreamEnded{}});
}

}  // namespace

PlayedAgent::PlayedAgent() {
  ::signal(SIGPIPE, SIG_IGN);
  listening_ = listen_stream(folder_.path("agent"), 0600).value();
  acceptor_ = std::thread([this] { accept(); });
}

PlayedAgent::~PlayedAgent() {
  stopping_ = true;
  acceptor_.join();
  for (std::thread& thread : threads_) thread.join();
}

Result<Fd> PlayedAgent::reach(const PodAttach& ask) const {
  Fd fd = TRY(connect_stream(folder_.path("agent")));
  if (!say_all(fd.get(), frame(encode(ask)))) return Error{Errc::unavailable, "the agent is gone"};
  return fd;
}

std::vector<PodAttach> PlayedAgent::asked() const {
  const std::lock_guard lock(mutex_);
  return asked_;
}

void PlayedAgent::accept() {
  while (!stopping_) {
    pollfd p{listening_.get(), POLLIN, 0};
    if (::poll(&p, 1, 20) <= 0) continue;
    auto client = accept_connection(listening_.get());
    if (!client) continue;
    threads_.emplace_back([this, fd = std::move(*client)]() mutable { serve(std::move(fd)); });
  }
}

void PlayedAgent::serve(Fd client) {
  ++open_;
  Frames frames(client.get());
  const auto first = frames.next();
  const auto ask = first ? decode<PodAttach>(*first) : Result<PodAttach>(Error{});
  if (ask) {
    {
      const std::lock_guard lock(mutex_);
      asked_.push_back(*ask);
    }
    if (ask->container == "absent") {
      tell(client.get(), PodAttached{.error = "container not found (\"absent\")", .missing = true});
    } else if (ask->container == "mute") {
      (void)frames.next();
    } else if (ask->kind == PodStreamKind::log) {
      log(client.get(), *ask);
    } else if (ask->kind == PodStreamKind::port) {
      forward(client.get(), *ask);
    } else {
      PodAttach command = *ask;
      if (ask->kind == PodStreamKind::attach)
        command.command = {"sh", "-c", "echo attached; cat; exit 3"};
      run(client.get(), command);
    }
  }
  --open_;
}

void PlayedAgent::log(int client, const PodAttach& ask) {
  tell(client, PodAttached{});
  if (ask.container == "endless") {
    const std::string piece(10'000, 'e');
    while (!stopping_ && output(client, piece)) said_ += piece.size();
    return;
  }
  if (ask.container == "broken") {
    output(client, "half a li");
    return;
  }
  const std::int64_t lines = ask.tail >= 0 ? ask.tail : 1000;
  std::string text;
  for (std::int64_t i = 1000 - lines + 1; i <= 1000; ++i) {
    text += (ask.timestamps ? "2026-12-01T00:00:00.000000000Z " : "") +
            std::string(ask.previous ? "old " : "") + "line " + std::to_string(i) + "\n";
  }
  if (ask.most > 0) text.resize(ask.most);
  output(client, text);
  for (int i = 0; ask.follow && i < 5; ++i) {
    ::poll(nullptr, 0, 30);
    output(client, "more " + std::to_string(i) + "\n");
  }
  tell(client, PodDown{PodStreamEnded{}});
}

EchoPort::EchoPort() : listening_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  if (::bind(listening_.get(), reinterpret_cast<sockaddr*>(&at), size) != 0 ||
      ::listen(listening_.get(), 64) != 0)
    return;
  ::getsockname(listening_.get(), reinterpret_cast<sockaddr*>(&at), &size);
  port_ = ntohs(at.sin_port);
  acceptor_ = std::thread([fd = listening_.get()] {
    std::vector<std::thread> all;
    for (;;) {
      const int client = ::accept4(fd, nullptr, nullptr, SOCK_CLOEXEC);
      if (client < 0) break;
      all.emplace_back([client] {
        const Fd owned(client);
        std::array<char, 65536> piece{};
        for (;;) {
          const ssize_t n = ::recv(client, piece.data(), piece.size(), 0);
          if (n <= 0 || !say_all(client, {piece.data(), static_cast<std::size_t>(n)})) break;
        }
      });
    }
    for (std::thread& thread : all) thread.join();
  });
}

EchoPort::~EchoPort() {
  ::shutdown(listening_.get(), SHUT_RDWR);
  if (acceptor_.joinable()) acceptor_.join();
}

}  // namespace drover::kube
