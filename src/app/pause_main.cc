// drover-pause: the first process of a pod's sandbox. It holds the pod's namespaces and buries orphans.
#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

namespace {

void leave(int) { ::_exit(0); }
void bury(int) {
  while (::waitpid(-1, nullptr, WNOHANG) > 0) continue;
}

}  // namespace

int main() {
  struct sigaction action{};
  action.sa_handler = leave;
  ::sigaction(SIGTERM, &action, nullptr);
  ::sigaction(SIGINT, &action, nullptr);
  action.sa_handler = bury;
  action.sa_flags = SA_NOCLDSTOP;
  ::sigaction(SIGCHLD, &action, nullptr);
  for (;;) ::pause();
}
