// The small process that starts shims for an agent and passes words between them. It keeps nothing
// in memory that isn't also in the state folder, so it may be killed and started at any time.
#pragma once

#include <string>

#include "base/result.h"

namespace drover::agent {

struct KeeperOptions {
  std::string socket;       // where the agent connects
  std::string folder;       // the state folder, see Records
  std::string cgroup_root;  // "drover/n1"; empty: no cgroups
  std::string host_name;    // that jobs see, with a hosts file of their own; empty: the machine's
};

// Takes its place in the background and returns in the calling process once the socket listens, or
// with the reason why not: conflict when a keeper of this folder lives already.
[[nodiscard]] Status start_keeper(const KeeperOptions& options);

}  // namespace drover::agent
