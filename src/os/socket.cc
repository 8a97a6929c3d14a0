#include "os/socket.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "os/file.h"

namespace drover {
namespace {

constexpr std::size_t kInlineLimit = 32U << 10;
constexpr std::size_t kMessageLimit = 64U << 20;

struct Address {
  sockaddr_un un{};
  socklen_t length = 0;
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&un); }
};

Result<Address> address_of(const std::string& path) {
  Address address;
  if (path.empty() || path.size() >= sizeof(address.un.sun_path)) {
    return Error{Errc::invalid, "socket path is empty or longer than 107 bytes: " + path};
  }
  address.un.sun_family = AF_UNIX;
  path.copy(static_cast<char*>(address.un.sun_path), path.size());
  address.length = static_cast<socklen_t>(sizeof(address.un));
  return address;
}

Result<Fd> open_socket(int type) {
  Fd fd(::socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return system_error(errno, "open a socket");
  return fd;
}

Result<Fd> bind_at(int type, const std::string& path, mode_t mode = 0600) {
  const Address address = TRY(address_of(path));
  Fd fd = TRY(open_socket(type));
  ::unlink(path.c_str());
  // The mode of a socket that is bound is that of its inode: the file is never open to others.
  ::fchmod(fd.get(), mode);
  if (::bind(fd.get(), address.get(), address.length) != 0) return system_error(errno, "bind " + path);
  return fd;
}

Result<Fd> memory_file(std::string_view bytes) {
  Fd file(::memfd_create("message", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file) return system_error(errno, "make a memory file");
  for (std::string_view rest = bytes; !rest.empty();) {
    const ssize_t n = ::write(file.get(), rest.data(), rest.size());
    if (n < 0) return system_error(errno, "fill a memory file");
    rest.remove_prefix(static_cast<std::size_t>(n));
  }
  constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;
  if (::fcntl(file.get(), F_ADD_SEALS, kSeals) != 0) return system_error(errno, "seal a memory file");
  return file;
}

Result<std::string> content_of(int file) {
  struct stat info{};
  if (::fstat(file, &info) != 0) return system_error(errno, "look at a received file");
  constexpr int kNeeded = F_SEAL_SHRINK | F_SEAL_WRITE;
  if ((::fcntl(file, F_GET_SEALS) & kNeeded) != kNeeded || info.st_size < 0 ||
      static_cast<std::size_t>(info.st_size) > kMessageLimit) {
    return Error{Errc::invalid, "received file isn't a sealed message of at most 64 MiB"};
  }
  std::string bytes(static_cast<std::size_t>(info.st_size), '\0');
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t n = ::pread(file, &bytes[at], bytes.size() - at, static_cast<off_t>(at));
    if (n <= 0) return system_error(errno, "read a received file");
    at += static_cast<std::size_t>(n);
  }
  return bytes;
}

// The room for one descriptor beside a message.
struct Beside {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> room{};
  void attach(msghdr& header, int descriptor) {
    header.msg_control = room.data();
    header.msg_controllen = room.size();
    cmsghdr* const item = CMSG_FIRSTHDR(&header);
    item->cmsg_level = SOL_SOCKET;
    item->cmsg_type = SCM_RIGHTS;
    item->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(item), &descriptor, sizeof(descriptor));
  }
};

// The last descriptor that came with a message; the others are closed.
Fd descriptor_of(msghdr& header) {
  Fd file;
  for (cmsghdr* item = CMSG_FIRSTHDR(&header); item != nullptr; item = CMSG_NXTHDR(&header, item)) {
    if (item->cmsg_level != SOL_SOCKET || item->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (item->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(item) + i * sizeof(int), sizeof(int));
      file = Fd(number);
    }
  }
  return file;
}

Status send_all(int socket, msghdr* header) {
  while (::sendmsg(socket, header, MSG_NOSIGNAL) < 0) {
    if (errno != EINTR) return system_error(errno, "send a message");
  }
  return Done{};
}

}  // namespace

Result<Fd> listen_packets(const std::string& path) {
  Fd fd = TRY(bind_at(SOCK_SEQPACKET, path));
  if (::listen(fd.get(), 64) != 0) return system_error(errno, "listen at " + path);
  return fd;
}

Result<Fd> bind_datagrams(const std::string& path) { return bind_at(SOCK_DGRAM, path); }

Result<Fd> connect_packets(const std::string& path) {
  const Address address = TRY(address_of(path));
  Fd fd = TRY(open_socket(SOCK_SEQPACKET));
  if (::connect(fd.get(), address.get(), address.length) != 0) return system_error(errno, "connect to " + path);
  return fd;
}

Result<Fd> accept_connection(int listening) {
  Fd fd(::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!fd) return system_error(errno, "accept a connection");
  return fd;
}

Result<Fd> listen_stream(const std::string& path, mode_t mode) {
  Fd fd = TRY(bind_at(SOCK_STREAM, path, mode));
  // What the process's umask takes away is given back.
  if (::chmod(path.c_str(), mode) != 0) return system_error(errno, path);
  if (::listen(fd.get(), 1024) != 0) return system_error(errno, "listen at " + path);
  return fd;
}

Result<Fd> connect_stream(const std::string& path) {
  const Address address = TRY(address_of(path));
  Fd fd = TRY(open_socket(SOCK_STREAM));
  if (::connect(fd.get(), address.get(), address.length) != 0) return system_error(errno, "connect to " + path);
  return fd;
}

Result<Fd> datagram_socket() { return open_socket(SOCK_DGRAM); }

bool has_listener(const std::string& path) {
  const auto address = address_of(path);
  const auto fd = open_socket(SOCK_DGRAM);
  return address && fd && ::connect(fd->get(), address->get(), address->length) == 0;
}

Result<Peer> peer_of(int socket) {
  ucred cred{};
  socklen_t length = sizeof(cred);
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &cred, &length) != 0) {
    return system_error(errno, "ask who is calling");
  }
  return Peer{.pid = cred.pid, .uid = cred.uid, .gid = cred.gid};
}

Status send_message(int socket, std::string_view bytes) {
  if (bytes.empty() || bytes.size() > kMessageLimit) {
    return Error{Errc::invalid, "a message has 1 byte to 64 MiB"};
  }
  char nothing = 0;
  iovec part{.iov_base = const_cast<char*>(bytes.data()), .iov_len = bytes.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (bytes.size() <= kInlineLimit) return send_all(socket, &header);
  const Fd file = TRY(memory_file(bytes));
  part = {.iov_base = &nothing, .iov_len = 1};
  Beside beside;
  beside.attach(header, file.get());
  return send_all(socket, &header);
}

Status send_with_descriptor(int socket, std::string_view bytes, int descriptor) {
  iovec part{.iov_base = const_cast<char*>(bytes.data()), .iov_len = bytes.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  Beside beside;
  beside.attach(header, descriptor);
  const ssize_t n = ::sendmsg(socket, &header, MSG_NOSIGNAL);
  if (n < 0) return system_error(errno, "hand over a descriptor");
  if (static_cast<std::size_t>(n) != bytes.size()) return Error{Errc::unavailable, "the peer doesn't read"};
  return Done{};
}

Result<Arrived> receive_with_descriptor(int socket, char* into, std::size_t room) {
  iovec part{.iov_base = into, .iov_len = room};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(4 * sizeof(int))> control{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  const ssize_t n = ::recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return Arrived{};
  if (n < 0) return system_error(errno, "read a stream");
  return Arrived{.bytes = static_cast<std::size_t>(n), .closed = n == 0, .descriptor = descriptor_of(header)};
}

Status send_datagram(int socket, const std::string& path, std::string_view bytes) {
  const Address address = TRY(address_of(path));
  if (::sendto(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL, address.get(), address.length) < 0) {
    return system_error(errno, "send to " + path);
  }
  return Done{};
}

Result<Received> receive_message(int socket) {
  static thread_local std::vector<char> buffer(kInlineLimit + 1);
  iovec part{.iov_base = buffer.data(), .iov_len = buffer.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(4 * sizeof(int))> control{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  ssize_t n = -1;
  do n = ::recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
  while (n < 0 && errno == EINTR);
  if (n < 0 && errno == EAGAIN) return Received{};
  if (n < 0) return system_error(errno, "receive a message");
  const Fd file = descriptor_of(header);
  if (n == 0) return Received{.kind = Received::Kind::closed};
  if ((header.msg_flags & MSG_TRUNC) != 0) return Error{Errc::invalid, "a message is too long"};
  if (file) return Received{.kind = Received::Kind::message, .bytes = TRY(content_of(file.get()))};
  return Received{.kind = Received::Kind::message,
                  .bytes = std::string(buffer.data(), static_cast<std::size_t>(n))};
}

}  // namespace drover
