#include "agent/pod/environment.h"

#include <algorithm>
#include <string_view>

#include "agent/runner/environment.h"
#include "base/text.h"

namespace drover::agent {
namespace {

constexpr std::string_view kOurs[] = {"NVIDIA_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
                                      "HIP_VISIBLE_DEVICES",    "GPU_DEVICE_ORDINAL",   "AMD_VISIBLE_DEVICES"};

bool is_ours(const std::string& variable) {
  const std::string_view name = std::string_view(variable).substr(0, variable.find('='));
  return std::ranges::find(kOurs, name) != std::end(kOurs);
}

}  // namespace

std::vector<std::string> container_environment(const PodContainer& container, const std::vector<DeviceInfo>& granted) {
  std::vector<std::string> environment = container.environment;
  std::erase_if(environment, is_ours);
  std::vector<std::string> uuids;
  std::vector<std::string> nvidia;
  for (const DeviceInfo& device : granted) {
    uuids.push_back(device.uuid);
    if (device.vendor == Vendor::nvidia) nvidia.push_back(device.uuid);
  }
  set_variables(environment, device_variables({.devices = granted, .confined = true}, uuids));
  environment.push_back("NVIDIA_VISIBLE_DEVICES=" + (nvidia.empty() ? "void" : join(nvidia, ",")));
  return environment;
}

}  // namespace drover::agent
