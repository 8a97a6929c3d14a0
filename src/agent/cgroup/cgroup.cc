#include "agent/cgroup/cgroup.h"

#include <csignal>

namespace drover::agent {

void Cgroup::terminate_all() {
  const bool frozen = freeze();
  for (const pid_t pid : processes()) {
    ::kill(pid, SIGCONT);
    ::kill(pid, SIGTERM);
  }
  if (frozen) thaw();
}

}  // namespace drover::agent
