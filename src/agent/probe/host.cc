#include "agent/probe/host.h"

#include <sys/utsname.h>

#include <algorithm>
#include <map>
#include <set>

#include "agent/cgroup/directory.h"
#include "base/text.h"
#include "os/file.h"

namespace drover::agent {
namespace {

std::string text_of(const std::string& path) {
  const auto text = read_file(path);
  return text ? *text : std::string{};
}

// "MemTotal:  123 kB", "btime 123": the number behind the word.
std::int64_t number_after(std::string_view text, std::string_view name) {
  for (const std::string_view line : split(text, '\n')) {
    if (!line.starts_with(name)) continue;
    const std::string_view rest = trim(line.substr(name.size()));
    return parse_int(rest.substr(0, rest.find(' '))).value_or(0);
  }
  return 0;
}

void count_cores(const std::string& root, HostInfo& host) {
  std::map<std::int64_t, std::set<std::int64_t>> cores_of_socket;
  for (const std::int32_t cpu : host.cpus) {
    const std::string at = root + "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
    const auto socket = parse_int(trim(text_of(at + "physical_package_id"))).value_or(0);
    cores_of_socket[socket].insert(parse_int(trim(text_of(at + "core_id"))).value_or(cpu));
  }
  std::size_t cores = 0;
  for (const auto& [socket, ids] : cores_of_socket) cores += ids.size();
  if (cores == 0) return;
  host.sockets = static_cast<std::int32_t>(cores_of_socket.size());
  host.cores_per_socket = static_cast<std::int32_t>(std::max<std::size_t>(1, cores / cores_of_socket.size()));
  host.threads_per_core = static_cast<std::int32_t>(std::max<std::size_t>(1, host.cpus.size() / cores));
}

// "0.52 0.58 0.59 ..." -> 52
std::int64_t first_load_centi(std::string_view text) {
  const std::string_view load = text.substr(0, text.find(' '));
  const auto dot = load.find('.');
  if (dot == std::string_view::npos || load.size() < dot + 3) return 0;
  return parse_int(load.substr(0, dot)).value_or(0) * 100 + parse_int(load.substr(dot + 1, 2)).value_or(0);
}

}  // namespace

HostInfo probe_host(const std::string& root) {
  HostInfo host;
  utsname names{};
  if (::uname(&names) == 0) {
    host.hostname = static_cast<const char*>(names.nodename);
    host.kernel = static_cast<const char*>(names.release);
    host.architecture = static_cast<const char*>(names.machine);
  }
  host.boot_id = trim(text_of(root + "/proc/sys/kernel/random/boot_id"));
  host.booted = Instant(seconds(number_after(text_of(root + "/proc/stat"), "btime ")));
  host.cpus = parse_cpu_list(text_of(root + "/sys/devices/system/cpu/online"));
  count_cores(root, host);
  const std::string memory = text_of(root + "/proc/meminfo");
  host.memory_bytes = number_after(memory, "MemTotal:") * 1024;
  host.memory_available = number_after(memory, "MemAvailable:") * 1024;
  host.load_centi = first_load_centi(text_of(root + "/proc/loadavg"));
  return host;
}

}  // namespace drover::agent
