#include "wire/socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>

#include "base/text.h"

namespace drover::wire {
namespace {

Error failed(const std::string& what, int code) {
  const bool denied = code == EACCES || code == EPERM;
  const bool used = code == EADDRINUSE;
  return Error{denied ? Errc::denied : used ? Errc::conflict : Errc::unavailable, what + ": " + std::strerror(code)};
}

// A Unix address for any length of path. `folder` must stay open until the address has been used.
struct UnixAddress {
  Fd folder;
  sockaddr_un address{};
  socklen_t size = 0;
};

Result<UnixAddress> unix_address(const std::string& path) {
  UnixAddress result;
  std::string name = path;
  if (name.size() >= sizeof(result.address.sun_path)) {
    const auto slash = path.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
    result.folder = Fd(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!result.folder) return failed(folder, errno);
    name = "/proc/self/fd/" + std::to_string(result.folder.get()) + "/" + path.substr(slash + 1);
    if (name.size() >= sizeof(result.address.sun_path)) {
      return Error{Errc::invalid, "the socket's file name is too long: " + printable(path)};
    }
  }
  result.address.sun_family = AF_UNIX;
  std::memcpy(result.address.sun_path, name.c_str(), name.size() + 1);
  result.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size() + 1);
  return result;
}

const sockaddr* generic(const sockaddr_un& address) { return reinterpret_cast<const sockaddr*>(&address); }

// Waits until the connect that was begun ends; 0 or its error.
int finish_connect(int fd, std::chrono::milliseconds wait) {
  pollfd poll_fd{fd, POLLOUT, 0};
  int ready = 0;
  do {
    ready = ::poll(&poll_fd, 1, static_cast<int>(std::min<std::int64_t>(wait.count(), 1 << 30)));
  } while (ready < 0 && errno == EINTR);
  if (ready == 0) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof error;
  if (ready < 0 || ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) return errno;
  return error;
}

Result<Fd> connect_unix(const Endpoint& to, std::chrono::milliseconds wait) {
  const UnixAddress at = TRY(unix_address(to.path));
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) return failed("socket", errno);
  // A Unix connect waits only while the backlog is full; SO_SNDTIMEO is what bounds that wait.
  timeval limit{};
  limit.tv_sec = wait.count() / 1000;
  limit.tv_usec = std::max<std::int64_t>(wait.count() % 1000 * 1000, limit.tv_sec == 0 ? 1 : 0);
  ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  int done = 0;
  do {
    done = ::connect(fd.get(), generic(at.address), at.size);
  } while (done != 0 && errno == EINTR);
  if (done != 0) return failed(to.text(), errno == EAGAIN ? ETIMEDOUT : errno);
  ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
  return fd;
}

using AddressList = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Result<AddressList> resolve(const Endpoint& at, int flags) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(at.port);
  const int error = ::getaddrinfo(at.host.empty() ? nullptr : at.host.c_str(), port.c_str(), &hints, &found);
  if (error != 0) return Error{Errc::unavailable, at.text() + ": " + ::gai_strerror(error)};
  return AddressList(found, &::freeaddrinfo);
}

void no_delay(int fd) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

Result<Fd> connect_tcp(const Endpoint& to, std::chrono::milliseconds wait) {
  const AddressList list = TRY(resolve(to, 0));
  int error = EHOSTUNREACH;
  for (const addrinfo* at = list.get(); at != nullptr; at = at->ai_next) {
    Fd fd(::socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd) return failed("socket", errno);
    error = ::connect(fd.get(), at->ai_addr, at->ai_addrlen) == 0 ? 0 : errno;
    if (error == EINPROGRESS) error = finish_connect(fd.get(), wait);
    if (error == 0) {
      no_delay(fd.get());
      return fd;
    }
  }
  return failed(to.text(), error);
}

Result<Fd> listen_unix(const Endpoint& at, unsigned mode) {
  struct stat there {};
  if (::lstat(at.path.c_str(), &there) == 0) {
    if (!S_ISSOCK(there.st_mode)) return Error{Errc::conflict, at.path + ": exists and is no socket"};
    if (connect_unix(at, std::chrono::milliseconds(100)).has_value()) {
      return Error{Errc::conflict, at.path + ": another process listens there"};
    }
  }
  const std::string beside = at.path + "." + std::to_string(::getpid());
  const UnixAddress address = TRY(unix_address(beside));
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return failed("socket", errno);
  ::unlink(beside.c_str());
  if (::bind(fd.get(), generic(address.address), address.size) != 0) return failed(at.path, errno);
  if (::chmod(beside.c_str(), mode) != 0 || ::listen(fd.get(), SOMAXCONN) != 0 ||
      ::rename(beside.c_str(), at.path.c_str()) != 0) {
    const int error = errno;
    ::unlink(beside.c_str());
    return failed(at.path, error);
  }
  return fd;
}

Result<Fd> listen_tcp(const Endpoint& at) {
  const AddressList list = TRY(resolve(at, AI_PASSIVE));
  Fd fd(::socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return failed("socket", errno);
  const int on = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(fd.get(), list->ai_addr, list->ai_addrlen) != 0 || ::listen(fd.get(), SOMAXCONN) != 0) {
    return failed(at.text(), errno);
  }
  return fd;
}

std::string address_text(const sockaddr_storage& from) {
  std::array<char, INET6_ADDRSTRLEN> name{};
  if (from.ss_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, &from, sizeof v4);
    ::inet_ntop(AF_INET, &v4.sin_addr, name.data(), name.size());
    return std::string(name.data()) + ":" + std::to_string(ntohs(v4.sin_port));
  }
  if (from.ss_family == AF_INET6) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, &from, sizeof v6);
    ::inet_ntop(AF_INET6, &v6.sin6_addr, name.data(), name.size());
    return "[" + std::string(name.data()) + "]:" + std::to_string(ntohs(v6.sin6_port));
  }
  return "unknown";
}

}  // namespace

Result<Endpoint> Endpoint::parse(std::string_view text) {
  constexpr std::string_view kUnix = "unix:";
  const Error bad{Errc::invalid, "'" + printable(text) + "' is not an address: say unix:/path or host:port"};
  if (text.starts_with(kUnix)) {
    text.remove_prefix(kUnix.size());
    if (text.empty()) return bad;
    return unix_socket(std::string(text));
  }
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return bad;
  const auto port = parse_uint(text.substr(colon + 1));
  std::string_view host = text.substr(0, colon);
  const bool bracketed = host.starts_with('[') && host.ends_with(']') && host.size() > 2;
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (!port || *port > 65535 || (!bracketed && host.find(':') != std::string_view::npos)) return bad;
  return tcp(std::string(host), static_cast<std::uint16_t>(*port));
}

std::string Endpoint::text() const {
  if (!path.empty()) return "unix:" + path;
  const bool v6 = host.find(':') != std::string::npos;
  return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

Result<Fd> listen_on(const Endpoint& at, unsigned mode) {
  return at.path.empty() ? listen_tcp(at) : listen_unix(at, mode);
}

std::uint16_t local_port(int fd) {
  sockaddr_storage at{};
  socklen_t size = sizeof at;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size) != 0) return 0;
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  std::memcpy(&v4, &at, sizeof v4);
  std::memcpy(&v6, &at, sizeof v6);
  if (at.ss_family == AF_INET) return ntohs(v4.sin_port);
  return at.ss_family == AF_INET6 ? ntohs(v6.sin6_port) : std::uint16_t{0};
}

Result<Fd> connect_to(const Endpoint& to, std::chrono::milliseconds wait) {
  return to.path.empty() ? connect_tcp(to, wait) : connect_unix(to, wait);
}

Peer peer_of(int fd) {
  sockaddr_storage from{};
  socklen_t size = sizeof from;
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&from), &size) != 0) return {.address = "unknown"};
  if (from.ss_family != AF_UNIX) {
    no_delay(fd);
    return {.address = address_text(from)};
  }
  ucred credentials{};
  size = sizeof credentials;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return {.address = "unix"};
  return {.local = Peer::Local{credentials.uid, credentials.gid, credentials.pid}, .address = "unix"};
}

}  // namespace drover::wire
