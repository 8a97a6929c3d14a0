#include "agent/probe/device.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cerrno>
#include <set>

#include "os/file.h"

namespace drover::agent {

Result<std::vector<DeviceInfo>> declare_devices(const std::string& node, const std::vector<DeclaredDevice>& declared) {
  std::vector<DeviceInfo> devices;
  std::set<std::string> names;
  for (const DeclaredDevice& one : declared) {
    const auto index = static_cast<std::int32_t>(devices.size());
    DeviceInfo device{.uuid = one.uuid.empty() ? "declared-" + node + "-" + std::to_string(index) : one.uuid,
                      .index = index,
                      .vendor = one.vendor,
                      .model = one.model,
                      .memory_bytes = one.memory_bytes,
                      .compute_major = one.compute_major,
                      .compute_minor = one.compute_minor,
                      .numa_node = one.numa_node,
                      .nvlink_peers = one.nvlink_peers,
                      .declared = true,
                      .files = one.files};
    if (!names.insert(device.uuid).second) return Error{Errc::invalid, "two devices are declared as " + device.uuid};
    TRY(device_nodes(device.files));
    devices.push_back(std::move(device));
  }
  return devices;
}

Result<std::vector<DeviceNode>> device_nodes(const std::vector<std::string>& files) {
  std::vector<DeviceNode> nodes;
  for (const std::string& file : files) {
    struct stat info {};
    if (::stat(file.c_str(), &info) != 0) return system_error(errno, file);
    if (!S_ISCHR(info.st_mode) && !S_ISBLK(info.st_mode)) return Error{Errc::invalid, file + " isn't a device file"};
    nodes.push_back({.block = S_ISBLK(info.st_mode), .major = major(info.st_rdev), .minor = minor(info.st_rdev)});
  }
  return nodes;
}

}  // namespace drover::agent
