// Where an agent keeps what must outlive it but not the machine: on tmpfs where there is one, in a
// folder whose name comes from the state folder, so that two clusters on one machine never meet.
#pragma once

#include <string>

#include "base/result.h"

namespace drover::agent {

struct NodeFolder {
  std::string path;         // short enough for a Unix socket in it
  std::string cgroup_root;  // "drover/<mark>-<node>"
};

[[nodiscard]] Result<NodeFolder> node_folder(const std::string& state_dir, const std::string& node);

}  // namespace drover::agent
