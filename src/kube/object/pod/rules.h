// On whose behalf a pod is made, and what he may do.
#pragma once

#include <cstdint>
#include <vector>

namespace drover::kube {

struct PodRules {
  std::uint32_t user = 0;  // Unix ids of the one who asks
  std::uint32_t group = 0;
  std::vector<std::uint32_t> groups;  // all of his, `group` among them or not
  // Privileged containers, host paths, the host's processes and IPC, other users, capabilities.
  bool privileged = false;
};

}  // namespace drover::kube
