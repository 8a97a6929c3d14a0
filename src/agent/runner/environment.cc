#include "agent/runner/environment.h"

#include <algorithm>

#include "base/text.h"

namespace drover::agent {
namespace {

bool is_variable(const std::string& entry, std::string_view name) {
  return entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=';
}

void set(std::vector<std::string>& environment, const std::string& name, const std::string& value) {
  std::erase_if(environment, [&](const std::string& entry) { return is_variable(entry, name); });
  environment.push_back(name + "=" + value);
}

void set_if_missing(std::vector<std::string>& environment, const std::string& name, const std::string& value) {
  if (find_variable(environment, name) == nullptr && !value.empty()) environment.push_back(name + "=" + value);
}

std::string names_of(const GrantedDevices& granted, Vendor vendor, const std::vector<std::string>* chosen = nullptr) {
  std::vector<std::string> names;
  std::int32_t own = 0;
  for (const DeviceInfo& device : granted.devices) {
    if (device.vendor != vendor) continue;
    const bool numbered_from_zero = granted.confined || device.declared;
    const std::int32_t number = numbered_from_zero ? own++ : device.index;
    if (chosen != nullptr && std::find(chosen->begin(), chosen->end(), device.uuid) == chosen->end()) continue;
    names.push_back(device.mig_profile.empty() ? std::to_string(number) : device.uuid);
  }
  return join(names, ",");
}

}  // namespace

const char* find_variable(const std::vector<std::string>& environment, std::string_view name) {
  for (const std::string& entry : environment) {
    if (is_variable(entry, name)) return entry.c_str() + name.size() + 1;
  }
  return nullptr;
}

std::vector<std::string> device_variables(const GrantedDevices& granted, const std::vector<std::string>& own) {
  std::vector<std::string> variables;
  const auto has = [&](Vendor vendor) {
    return std::any_of(granted.devices.begin(), granted.devices.end(),
                       [&](const DeviceInfo& device) { return device.vendor == vendor; });
  };
  if (has(Vendor::nvidia)) variables.push_back("CUDA_VISIBLE_DEVICES=" + names_of(granted, Vendor::nvidia, &own));
  if (has(Vendor::amd)) variables.push_back("ROCR_VISIBLE_DEVICES=" + names_of(granted, Vendor::amd, &own));
  return variables;
}

std::vector<std::string> build_environment(const std::vector<std::string>& base, const GrantedDevices& granted,
                                           const User& user) {
  std::vector<std::string> environment = base;
  // A submitter's own choice of devices, or a ghost of it in another library's name, means nothing here.
  for (const char* name :
       {"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL"}) {
    std::erase_if(environment, [&](const std::string& entry) { return is_variable(entry, name); });
  }
  const std::string cuda = names_of(granted, Vendor::nvidia);
  const std::string rocr = names_of(granted, Vendor::amd);
  // Where the kernel hides nothing, an empty list at least tells well-behaved programs.
  if (!cuda.empty() || (!granted.confined && rocr.empty())) set(environment, "CUDA_VISIBLE_DEVICES", cuda);
  if (!rocr.empty() || (!granted.confined && cuda.empty())) set(environment, "ROCR_VISIBLE_DEVICES", rocr);
  set_if_missing(environment, "HOME", user.home);
  set_if_missing(environment, "USER", user.name);
  set_if_missing(environment, "LOGNAME", user.name);
  set_if_missing(environment, "SHELL", user.shell);
  set_if_missing(environment, "PATH", "/usr/local/bin:/usr/bin:/bin");
  return environment;
}

void set_variables(std::vector<std::string>& environment, const std::vector<std::string>& variables) {
  for (const std::string& variable : variables) {
    const std::string_view name = std::string_view(variable).substr(0, variable.find('='));
    std::erase_if(environment, [&](const std::string& entry) { return is_variable(entry, name); });
    environment.push_back(variable);
  }
}

}  // namespace drover::agent
