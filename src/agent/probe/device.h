// The accelerators of a node, real or declared.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "agent/cgroup/cgroup.h"
#include "base/result.h"

namespace drover::agent {

enum class Vendor : std::uint8_t { nvidia, amd };

struct DeviceInfo {
  std::string uuid;  // the device itself; all else may change with the next boot
  std::int32_t index = 0;
  Vendor vendor = Vendor::nvidia;
  std::string model;
  std::int64_t memory_bytes = 0;
  std::int32_t compute_major = 0;
  std::int32_t compute_minor = 0;
  std::string pci_bus_id;  // "00000000:3B:00.0"
  std::int32_t numa_node = -1;
  std::vector<std::string> nvlink_peers;  // uuids
  std::string parent;                     // of a MIG slice: the whole card's uuid
  std::string mig_profile;                // "1g.10gb"
  bool declared = false;                  // said by a configuration, not seen
  // What a job must be able to open to use it; all of them are denied to others.
  std::vector<std::string> files;
};

// What somebody wrote down because it can't be seen.
struct DeclaredDevice {
  std::string uuid;  // empty: made from the node's name and the place in the list
  Vendor vendor = Vendor::nvidia;
  std::string model;
  std::int64_t memory_bytes = 0;
  std::int32_t compute_major = 0;
  std::int32_t compute_minor = 0;
  std::int32_t numa_node = -1;
  std::vector<std::string> nvlink_peers;
  std::vector<std::string> files;
};
[[nodiscard]] Result<std::vector<DeviceInfo>> declare_devices(const std::string& node,
                                                              const std::vector<DeclaredDevice>& declared);

struct DeviceProbe {
  std::vector<DeviceInfo> devices;  // in the order of their bus addresses, slices behind their card
  std::vector<std::string> faults;  // cards that don't answer, in plain sentences; the others stay usable
};
// Finds a function of the vendor's library by name; null: there is none.
using Symbols = std::function<void*(const char* name)>;
// Through NVML. not_found when there is no such library, unavailable when it doesn't work.
[[nodiscard]] Result<DeviceProbe> probe_nvidia();
[[nodiscard]] Result<DeviceProbe> probe_nvidia(const Symbols& symbols);

// The kernel's numbers of device files. not_found names the file that isn't there.
[[nodiscard]] Result<std::vector<DeviceNode>> device_nodes(const std::vector<std::string>& files);

}  // namespace drover::agent
