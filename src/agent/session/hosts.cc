#include "agent/session/hosts.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "os/file.h"

namespace drover::agent {
namespace {

bool is_numeric(const std::string& address) {
  std::array<unsigned char, 16> room{};
  return ::inet_pton(AF_INET, address.c_str(), room.data()) == 1 ||
         ::inet_pton(AF_INET6, address.c_str(), room.data()) == 1;
}

}  // namespace

std::string hosts_text(std::string_view machines, const std::vector<HostAddress>& nodes) {
  std::string text;
  for (const HostAddress& node : nodes) {
    if (is_numeric(node.address)) text += node.address + " " + node.name + "\n";
  }
  return text.append(machines);
}

Status write_hosts(const std::string& path, const std::vector<HostAddress>& nodes) {
  const auto machines = read_file("/etc/hosts");
  const std::string text = hosts_text(machines ? *machines : std::string{}, nodes);
  const Fd file = TRY(open_file(path, O_WRONLY | O_CREAT, 0644));
  TRY(write_at(file, text, 0, path));
  if (::ftruncate(file.get(), static_cast<off_t>(text.size())) != 0) return system_error(errno, path);
  return Done{};
}

}  // namespace drover::agent
