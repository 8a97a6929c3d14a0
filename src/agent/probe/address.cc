#include "agent/probe/address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <memory>

namespace drover::agent {
namespace {

constexpr const char* kOwn = "127.0.0.1";

std::string text_of(const sockaddr* address, socklen_t size) {
  std::array<char, NI_MAXHOST> text{};
  const int failed = ::getnameinfo(address, size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST);
  return failed == 0 ? std::string(text.data()) : std::string{};
}

std::string first_network() {
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return kOwn;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(all, &::freeifaddrs);
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    if ((one->ifa_flags & IFF_LOOPBACK) != 0 || (one->ifa_flags & IFF_UP) == 0) continue;
    if (auto text = text_of(one->ifa_addr, sizeof(sockaddr_in)); !text.empty()) return text;
  }
  return kOwn;
}

}  // namespace

std::string node_ip(const std::string& address) {
  if (address.empty()) return first_network();
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(address.c_str(), nullptr, &hints, &found) != 0) return first_network();
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  auto text = text_of(found->ai_addr, found->ai_addrlen);
  return text.empty() ? first_network() : text;
}

}  // namespace drover::agent
