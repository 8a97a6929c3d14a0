// The program that the kernel asks before a process of a v2 cgroup opens or makes a device file.
#pragma once

#include <linux/bpf.h>

#include <string>
#include <vector>

#include "agent/cgroup/cgroup.h"

namespace drover::agent {

// Denies exactly these, allows the rest.
[[nodiscard]] std::vector<bpf_insn> device_program(const std::vector<DeviceNode>& denied);
// The kernel keeps the program for as long as the cgroup lives.
[[nodiscard]] Status deny_devices(const std::string& cgroup_path, const std::vector<DeviceNode>& denied);

}  // namespace drover::agent
