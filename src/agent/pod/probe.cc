#include "agent/pod/probe.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <optional>

#include "base/text.h"
#include "os/clock.h"
#include "os/fd.h"
#include "os/file.h"

namespace drover::agent {
namespace {

constexpr std::size_t kStatusLine = 64;

int left(Duration until) {
  return static_cast<int>(std::max<std::int64_t>(0, (until - since_boot()).count()));
}

Result<Fd> connect_to(const std::string& host, std::uint32_t port, Duration until) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int failed = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found); failed != 0) {
    return Error{Errc::unavailable, host + ": " + ::gai_strerror(failed)};
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> all(found, &::freeaddrinfo);
  Fd socket(::socket(all->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) return system_error(errno, "socket");
  const std::string what = "dial tcp " + host + ":" + std::to_string(port);
  if (::connect(socket.get(), all->ai_addr, all->ai_addrlen) != 0 && errno != EINPROGRESS) {
    return system_error(errno, what);
  }
  pollfd ready{.fd = socket.get(), .events = POLLOUT};
  if (::poll(&ready, 1, left(until)) <= 0) return Error{Errc::unavailable, what + ": i/o timeout"};
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
  if (error != 0) return system_error(error, what);
  return socket;
}

std::string request_of(const PodProbe& probe, const std::string& host) {
  const std::string path = probe.path.starts_with('/') ? probe.path : "/" + probe.path;
  std::string host_line = "Host: " + host + ":" + std::to_string(probe.port) + "\r\n";
  std::string agent = "User-Agent: kube-probe/drover\r\n";
  std::string rest;
  for (const std::string& header : probe.headers) {
    // A line break would begin another request.
    if (header.find_first_of("\r\n") != std::string::npos) continue;
    const std::string name = lower(header.substr(0, header.find(':')));
    if (name == "host") host_line.clear();
    if (name == "user-agent") agent.clear();
    rest += header + "\r\n";
  }
  return "GET " + path + " HTTP/1.1\r\n" + host_line + agent + rest + "Accept: */*\r\nConnection: close\r\n\r\n";
}

Status ask_http(const PodProbe& probe, const std::string& host, Duration until) {
  const Fd socket = TRY(connect_to(host, probe.port, until));
  const std::string request = request_of(probe, host);
  if (::send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size())) {
    return system_error(errno, "HTTP probe");
  }
  std::string answer;
  std::array<char, kStatusLine> piece{};
  while (answer.size() < kStatusLine && answer.find("\r\n") == std::string::npos) {
    pollfd ready{.fd = socket.get(), .events = POLLIN};
    if (::poll(&ready, 1, left(until)) <= 0) {
      return Error{Errc::unavailable, "Get \"http://" + host + ":" + std::to_string(probe.port) + probe.path +
                                          "\": context deadline exceeded"};
    }
    const ssize_t n = ::recv(socket.get(), piece.data(), piece.size(), 0);
    if (n <= 0) break;
    answer.append(piece.data(), static_cast<std::size_t>(n));
  }
  const auto words = split(std::string_view(answer).substr(0, answer.find("\r\n")), ' ');
  const auto code = words.size() >= 2 ? parse_uint(words[1]) : std::nullopt;
  if (!code || !words[0].starts_with("HTTP/")) return Error{Errc::unavailable, "the answer isn't HTTP"};
  if (*code >= 200 && *code < 400) return Done{};
  return Error{Errc::unavailable, "HTTP probe failed with statuscode: " + std::to_string(*code)};
}

}  // namespace

Status ask_probe(const PodProbe& probe, const std::string& address) {
  const std::string host = probe.host.empty() ? address : probe.host;
  const Duration until = since_boot() + std::max(probe.timeout, Duration(1));
  if (probe.kind == ProbeKind::tcp || probe.https) {
    // Kubernetes takes any certificate; what counts here is that somebody listens.
    const auto connected = connect_to(host, probe.port, until);
    return connected ? Status(Done{}) : Status(connected.error());
  }
  return ask_http(probe, host, until);
}

}  // namespace drover::agent
