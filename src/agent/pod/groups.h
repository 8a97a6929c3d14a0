// Pods' shares of the kernel's limits as cgroups: each pod's is its job's group on this node.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "agent/cgroup/cgroup.h"
#include "agent/pod/site.h"

namespace drover::agent {

class PodCgroups final : public PodGroups {
 public:
  // What a holder of these devices must not open.
  using Denied = std::function<Result<std::vector<DeviceNode>>(const std::vector<std::string>& uuids)>;
  // `root` is that of the node ("drover/n1"), "" where no cgroups may be used.
  PodCgroups(std::string root, Denied denied);

  [[nodiscard]] Result<std::string> make(const std::string& pod, const CpuSet& cpus, std::int64_t cpu_milli,
                                         const std::vector<std::string>& device_uuids) override;
  [[nodiscard]] drover::Usage usage(const std::string& pod) override;
  void remove(const std::string& pod) override;

 private:
  std::string root_;
  Denied denied_;
  CgroupTree tree_;
};

}  // namespace drover::agent
