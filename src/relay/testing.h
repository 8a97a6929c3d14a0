// A cluster's certificates, and two ends of a socket, for tests.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <csignal>
#include <memory>
#include <string>
#include <utility>

#include "os/clock.h"
#include "os/fd.h"
#include "tls/certificate.h"
#include "tls/context.h"

namespace drover::relay::testing {

struct House {
  explicit House(std::string name = "c1") : cluster(std::move(name)) {
    ::signal(SIGPIPE, SIG_IGN);
    authority = tls::make_authority(cluster, valid).value();
  }
  [[nodiscard]] tls::Credentials issue(tls::Identity who) const {
    who.cluster = cluster;
    const std::string key = tls::make_key().value();
    return {
        .authority = authority.certificate,
        .certificate =
            tls::sign_request(authority, tls::make_request(key).value(), who, {}, valid).value(),
        .key = key};
  }
  [[nodiscard]] std::shared_ptr<tls::Context> client(const tls::Identity& who) const {
    return tls::Context::make(tls::Context::Side::client, issue(who), {.cluster = cluster}).value();
  }
  [[nodiscard]] std::shared_ptr<tls::Context> server(const tls::Identity& who) const {
    return tls::Context::make(tls::Context::Side::server, issue(who), {.cluster = cluster}).value();
  }

  const std::string cluster;
  const tls::Validity valid{wall_now() - minutes(5), wall_now() + minutes(60)};
  tls::KeyAndCertificate authority;
};

inline std::array<Fd, 2> two_ends() {
  std::array<int, 2> ends{-1, -1};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  return {Fd(ends[0]), Fd(ends[1])};
}

inline void say(const Fd& fd, std::string_view text) {
  ASSERT_EQ(::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(text.size()));
}

// `size` bytes, or what came before the end or ten seconds of silence.
inline std::string hear(const Fd& fd, std::size_t size = ~std::size_t{0}) {
  std::string text;
  while (text.size() < size) {
    pollfd ready{.fd = fd.get(), .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, 10'000) <= 0) return text + "(silence)";
    std::array<char, 65536> piece{};
    const ssize_t n = ::recv(fd.get(), piece.data(), std::min(piece.size(), size - text.size()), 0);
    if (n <= 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(n));
  }
  return text;
}

}  // namespace drover::relay::testing
