#include "agent/shim/names.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>

#include "os/file.h"

namespace drover::agent {
namespace {

constexpr const char* kHosts = "/etc/hosts";

Status begin_as_copy(const std::string& hosts_file) {
  if (file_exists(hosts_file)) return Done{};
  const auto machines = read_file(kHosts);
  const Fd file = TRY(open_file(hosts_file, O_WRONLY | O_CREAT, 0644));
  return machines ? write_at(file, *machines, 0, hosts_file) : Status(Done{});
}

}  // namespace

// Once for all jobs of the node: its keeper lives in these namespaces, and every job is born into them.
Status take_names(const std::string& host_name, const std::string& hosts_file) {
  TRY(begin_as_copy(hosts_file));
  if (::unshare(CLONE_NEWUTS | CLONE_NEWNS) != 0) return system_error(errno, "take names of our own");
  if (::sethostname(host_name.data(), host_name.size()) != 0) return system_error(errno, "set the host name");
  if (::mount("none", "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) return system_error(errno, "part from mounts");
  if (::mount(hosts_file.c_str(), kHosts, nullptr, MS_BIND, nullptr) != 0) return system_error(errno, kHosts);
  return Done{};
}

}  // namespace drover::agent
