#include "relay/dial.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

#include "base/proto.h"
#include "base/resume.h"
#include "base/text.h"

namespace drover::relay {
namespace {

constexpr std::size_t kMostPairs = 4096;
constexpr int kMostLookups = 16;
constexpr auto kPatience = std::chrono::seconds(5);

void set(int fd, int level, int option, int value) {
  ::setsockopt(fd, level, option, &value, sizeof value);
}

void refuse(const Call& call, const Error& error) {
  const std::string bytes = call.refused(error);
  [[maybe_unused]] const auto n =
      ::send(call.plain.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

// A connection that is on its way; nothing when the host is a name, which takes time to look up.
Result<Fd> begin_connect(const wire::Endpoint& to, bool& is_name) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | AI_NUMERICHOST;
  addrinfo* found = nullptr;
  is_name = ::getaddrinfo(to.host.c_str(), std::to_string(to.port).c_str(), &hints, &found) != 0;
  if (is_name) return Fd();
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> at(found, &::freeaddrinfo);
  Fd fd(::socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return Error{Errc::unavailable, std::strerror(errno)};
  if (::connect(fd.get(), at->ai_addr, at->ai_addrlen) != 0 && errno != EINPROGRESS) {
    return Error{Errc::unavailable, std::strerror(errno)};
  }
  return fd;
}

}  // namespace

void keep_alive(int fd) {
  set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(fd, IPPROTO_TCP, TCP_KEEPIDLE, 10);
  set(fd, IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set(fd, IPPROTO_TCP, TCP_KEEPCNT, 3);
}

Dialer::Dialer(std::shared_ptr<tls::Context> context, Pump& pump)
    : context_(std::move(context)), pump_(pump) {}

Dialer::~Dialer() {
  while (looking_up_ > 0) ::poll(nullptr, 0, 10);  // each has its own limit of time
}

void Dialer::call(Call call) {
  call.refused = [node = call.target.node, at = call.target.address,
                  refused = std::move(call.refused)](const Error& error) {
    return refused(Error{error}.under("node " + printable(node, 63) + " at " + printable(at, 300)));
  };
  if (pump_.pairs() >= kMostPairs)
    return refuse(call, {Errc::unavailable, "too many streams pass here"});
  const auto at = wire::Endpoint::parse(call.target.address);
  if (!at || !at->path.empty()) return refuse(call, {Errc::denied, "not an address"});
  bool is_name = false;
  auto connection = begin_connect(*at, is_name);
  if (!connection) return refuse(call, connection.error());
  if (is_name) return look_up(std::move(call), *at);
  carry(std::move(call), std::move(*connection));
}

void Dialer::look_up(Call call, const wire::Endpoint& at) {
  if (++looking_up_ > kMostLookups) {
    --looking_up_;
    return refuse(call, {Errc::unavailable, "too many names are being looked up"});
  }
  std::thread([this, call = std::move(call), at]() mutable {
    auto connection = wire::connect_to(at, kPatience);
    if (connection)
      carry(std::move(call), std::move(*connection));
    else
      refuse(call, connection.error());
    --looking_up_;
  }).detach();
}

void Dialer::carry(Call call, Fd connection) {
  keep_alive(connection.get());
  pump_.carry({.plain = std::move(call.plain),
               .channel = tls::Channel(*context_, std::move(connection),
                                       tls::expect_node(call.target.node)),
               .to_channel = frame(encode(call.opening)),
               .refused = std::move(call.refused)});
}

}  // namespace drover::relay
