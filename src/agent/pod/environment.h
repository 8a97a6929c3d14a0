// What a container sees of its node's devices.
#pragma once

#include <string>
#include <vector>

#include "agent/probe/device.h"
#include "domain/pod.h"

namespace drover::agent {

// The environment of a container: as the pod says, but for what names devices, which is always ours.
// Without a grant, runtimes that give out devices by a variable are told that there are none.
[[nodiscard]] std::vector<std::string> container_environment(const PodContainer& container,
                                                             const std::vector<DeviceInfo>& granted);

}  // namespace drover::agent
