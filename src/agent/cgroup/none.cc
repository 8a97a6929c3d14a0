#include "agent/cgroup/none.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <map>

#include "agent/cgroup/directory.h"
#include "base/text.h"
#include "os/file.h"

namespace drover::agent {
namespace {

struct ProcessLine {
  pid_t parent = 0;
  bool dead = false;
};

// /proc/PID/stat: "pid (any text) state parent ...".
ProcessLine parse_stat(std::string_view text) {
  const auto end_of_name = text.rfind(')');
  if (end_of_name == std::string_view::npos) return {};
  const auto fields = split(trim(text.substr(end_of_name + 1)), ' ');
  if (fields.size() < 2) return {};
  return {.parent = static_cast<pid_t>(parse_int(fields[1]).value_or(0)), .dead = fields[0] == "Z" || fields[0] == "X"};
}

}  // namespace

NoCgroup::NoCgroup(const Limits& limits) {
  if (const std::string why = why_not_confined(limits.cpus); !why.empty()) {
    notes_.push_back(why);
  } else {
    cpus_ = limits.cpus;
  }
}

std::vector<pid_t> NoCgroup::processes() const {
  std::multimap<pid_t, pid_t> children;
  std::map<pid_t, bool> dead;
  const auto names = list_folder("/proc");
  if (!names) return {};
  for (const std::string& name : *names) {
    const auto pid = parse_int(name);
    if (!pid) continue;
    const auto stat = read_file("/proc/" + name + "/stat");
    if (!stat) continue;
    const ProcessLine line = parse_stat(*stat);
    children.emplace(line.parent, static_cast<pid_t>(*pid));
    dead[static_cast<pid_t>(*pid)] = line.dead;
  }
  std::vector<pid_t> found;
  std::vector<pid_t> to_visit{::getpid()};
  while (!to_visit.empty()) {
    const auto [begin, end] = children.equal_range(to_visit.back());
    to_visit.pop_back();
    for (auto it = begin; it != end; ++it) {
      to_visit.push_back(it->second);
      if (!dead[it->second]) found.push_back(it->second);
    }
  }
  return found;
}

bool NoCgroup::empty() const {
  siginfo_t info{};
  return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 && errno == ECHILD;
}

void NoCgroup::kill_all() {
  for (const pid_t pid : processes()) ::kill(pid, SIGKILL);
}

}  // namespace drover::agent
