// The part of a job's environment that only its node knows.
#pragma once

#include <string>
#include <vector>

#include "agent/probe/device.h"
#include "os/user.h"

namespace drover::agent {

struct GrantedDevices {
  std::vector<DeviceInfo> devices;
  // Whether the kernel hides the node's other devices. Then a job's own are numbered from 0;
  // else their numbers are those of the whole machine.
  bool confined = true;
};

// `base` is what the job was submitted with ("NAME=value"). Names of devices are always ours, the
// user's own settings of the rest win.
[[nodiscard]] std::vector<std::string> build_environment(const std::vector<std::string>& base,
                                                         const GrantedDevices& granted, const User& user);

// Sets variables ("NAME=value"), whatever the list says of them so far.
void set_variables(std::vector<std::string>& environment, const std::vector<std::string>& variables);

// The variables that name some of the granted devices (by uuid), for a task that shares them with others:
// the kernel hides what its step hasn't got, so the numbers are those of the step's.
[[nodiscard]] std::vector<std::string> device_variables(const GrantedDevices& granted,
                                                        const std::vector<std::string>& own);

// The value of a variable in such a list, or null.
[[nodiscard]] const char* find_variable(const std::vector<std::string>& environment, std::string_view name);

}  // namespace drover::agent
