// drover-shim: the part of a node that outlives its agent.
#include <cstdio>
#include <cstring>
#include <string>
#include <unistd.h>

#include "agent/shim/keeper.h"

namespace {

constexpr const char* kUsage =
    "usage: drover-shim keeper --socket PATH --dir FOLDER [--cgroup-root NAME/NAME]\n"
    "                          [--host-name NAME]\n"
    "Starts the keeper of one node in the background. It is the agent that calls this.\n";

}  // namespace

int main(int argc, char** argv) {
  drover::agent::KeeperOptions options;
  bool good = argc >= 2 && std::strcmp(argv[1], "keeper") == 0 && argc % 2 == 0;
  for (int i = 2; good && i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    std::string* const target = name == "--socket"        ? &options.socket
                                : name == "--dir"         ? &options.folder
                                : name == "--cgroup-root" ? &options.cgroup_root
                                : name == "--host-name"   ? &options.host_name
                                                          : nullptr;
    good = target != nullptr;
    if (good) *target = argv[i + 1];
  }
  if (!good || options.socket.empty() || options.folder.empty()) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  const auto started = drover::agent::start_keeper(options);
  if (started) return 0;
  std::fprintf(stderr, "drover-shim: %s\n", started.error().message.c_str());
  return started.error().code == drover::Errc::conflict ? 3 : 1;
}
