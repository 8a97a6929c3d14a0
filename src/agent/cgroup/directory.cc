#include "agent/cgroup/directory.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>

#include "base/text.h"
#include "os/file.h"

namespace drover::agent {
namespace {

constexpr int kRemoveTries = 50;
constexpr std::int32_t kMostCpus = 8192;

void sleep_ms(long ms) {
  const timespec pause{.tv_sec = 0, .tv_nsec = ms * 1'000'000};
  ::nanosleep(&pause, nullptr);
}

}  // namespace

Status write_value(const std::string& file, std::string_view value) {
  const Fd fd = TRY(open_file(file, O_WRONLY));
  if (::write(fd.get(), value.data(), value.size()) < 0) {
    return system_error(errno, "write " + std::string(value) + " to " + file);
  }
  return Done{};
}

std::int64_t read_number(const std::string& file, std::string_view key) {
  const auto text = read_file(file);
  if (!text) return 0;
  for (const std::string_view line : split(*text, '\n')) {
    if (key.empty()) return parse_int(trim(line)).value_or(0);
    if (line.starts_with(key) && line.size() > key.size() && line[key.size()] == ' ') {
      return parse_int(trim(line.substr(key.size()))).value_or(0);
    }
  }
  return 0;
}

std::vector<pid_t> read_pids(const std::string& file) {
  std::vector<pid_t> pids;
  const auto text = read_file(file);
  if (!text) return pids;
  for (const std::string_view line : split(*text, '\n')) {
    // 0 stands for a process outside our pid namespace: kill(0) would hit ourselves.
    const auto pid = parse_int(trim(line));
    if (pid && *pid > 0) pids.push_back(static_cast<pid_t>(*pid));
  }
  return pids;
}

Result<bool> make_group(const std::string& path) {
  if (::mkdir(path.c_str(), 0755) == 0) return true;
  if (errno == EEXIST) return false;
  return system_error(errno, path);
}

std::vector<std::string> groups_below(const std::string& path) {
  struct stat info{};
  // The kernel counts a group's children in its links: most have none, and need not be listed.
  if (::stat(path.c_str(), &info) != 0 || info.st_nlink <= 2) return {};
  std::vector<std::string> groups;
  const auto names = list_folder(path);
  if (!names) return groups;
  for (const std::string& name : *names) {
    if (::stat((path + "/" + name).c_str(), &info) == 0 && S_ISDIR(info.st_mode)) groups.push_back(name);
  }
  return groups;
}

std::vector<pid_t> read_pids_below(const std::string& path) {
  std::vector<pid_t> pids = read_pids(path + "/cgroup.procs");
  for (const std::string& name : groups_below(path)) {
    const std::vector<pid_t> more = read_pids_below(path + "/" + name);
    pids.insert(pids.end(), more.begin(), more.end());
  }
  return pids;
}

void wait_until(const std::function<bool()>& ready) {
  constexpr int kLooks = 20;
  for (int i = 0; i < kLooks && !ready(); ++i) ::usleep(1000);
}

Status remove_group(const std::string& path) {
  for (int i = 0; i < kRemoveTries; ++i) {
    if (::rmdir(path.c_str()) == 0 || errno == ENOENT) return Done{};
    if (errno != EBUSY) break;
    sleep_ms(i < 10 ? 1 : 10);
  }
  return system_error(errno, path);
}

std::string cpu_list(const std::vector<std::int32_t>& cpus) {
  std::vector<std::string> words;
  for (const std::int32_t cpu : cpus) words.push_back(std::to_string(cpu));
  return join(words, ",");
}

std::vector<std::int32_t> parse_cpu_list(std::string_view text) {
  std::vector<std::int32_t> cpus;
  for (const std::string_view part : split(trim(text), ',')) {
    const auto dash = part.find('-');
    const auto first = parse_int(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_int(part.substr(dash + 1));
    if (!first || !last || *first < 0 || *last >= kMostCpus) continue;
    for (auto cpu = *first; cpu <= *last; ++cpu) cpus.push_back(static_cast<std::int32_t>(cpu));
  }
  return cpus;
}

const std::vector<std::int32_t>& online_cpus() {
  static const std::vector<std::int32_t> online = [] {
    const auto text = read_file("/sys/devices/system/cpu/online");
    return text ? parse_cpu_list(*text) : std::vector<std::int32_t>{};
  }();
  return online;
}

std::string why_not_confined(const std::vector<std::int32_t>& cpus) {
  if (cpus.empty()) return {};
  const std::vector<std::int32_t>& online = online_cpus();
  for (const std::int32_t cpu : cpus) {
    if (std::find(online.begin(), online.end(), cpu) == online.end()) {
      return "The job isn't confined to its CPUs: CPU " + std::to_string(cpu) +
             " is declared, but the machine has none.";
    }
  }
  return {};
}

std::string not_offered(std::string_view what) {
  return std::string(what) + " isn't limited: the kernel offers us no cgroup controller for it.";
}

}  // namespace drover::agent
