#include "agent/shim/handover.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "os/file.h"
#include "os/socket.h"

namespace drover::agent {
namespace {

// The socket goes first, so that an order that has come is whole.
struct ControlMessage {
  ControlMessage() {
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = room.data();
    header.msg_controllen = room.size();
  }
  char nothing = 0;
  iovec part{.iov_base = &nothing, .iov_len = 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> room{};
  msghdr header{};
};

Status send_control(int line, int control) {
  ControlMessage message;
  cmsghdr* const item = CMSG_FIRSTHDR(&message.header);
  item->cmsg_level = SOL_SOCKET;
  item->cmsg_type = SCM_RIGHTS;
  item->cmsg_len = CMSG_LEN(sizeof control);
  std::memcpy(CMSG_DATA(item), &control, sizeof control);
  if (::sendmsg(line, &message.header, MSG_NOSIGNAL) < 0) return system_error(errno, "hand over a socket");
  return Done{};
}

Result<Fd> receive_control(int line) {
  ControlMessage message;
  ssize_t n = -1;
  do n = ::recvmsg(line, &message.header, MSG_CMSG_CLOEXEC);
  while (n < 0 && errno == EINTR);
  const cmsghdr* const item = n == 1 ? CMSG_FIRSTHDR(&message.header) : nullptr;
  if (item == nullptr || item->cmsg_type != SCM_RIGHTS) return Error{Errc::unavailable, "the keeper has let go"};
  int control = -1;
  std::memcpy(&control, CMSG_DATA(item), sizeof control);
  return Fd(control);
}

}  // namespace

Result<std::pair<Fd, Fd>> make_line() {
  std::array<int, 2> ends{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return system_error(errno, "make a pair of sockets");
  }
  std::pair<Fd, Fd> line(ends[0], ends[1]);
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return line;
}

Status hand_over(int line, const Handover& handover) {
  TRY(send_control(line, handover.control.get()));
  return send_message(line, handover.order);
}

Result<Handover> take_over(int line) {
  Handover handover;
  handover.control = TRY(receive_control(line));
  Received received = TRY(receive_message(line));
  if (received.kind != Received::Kind::message) return Error{Errc::unavailable, "the keeper has let go"};
  handover.order = std::move(received.bytes);
  return handover;
}

}  // namespace drover::agent
