#include "agent/session/inventory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/text.h"

namespace drover::agent {
namespace {

drover::DeviceInfo described(const DeviceInfo& probed, const std::vector<DeviceInfo>& all) {
  drover::DeviceInfo info{.uuid = probed.uuid,
                          .model = model_word(probed.model),
                          .product = probed.model,
                          .index = static_cast<std::uint32_t>(probed.index),
                          .memory = Bytes::of(probed.memory_bytes),
                          .capability = static_cast<std::uint32_t>(probed.compute_major * 10 + probed.compute_minor),
                          .pci_bus = probed.pci_bus_id,
                          .numa = probed.numa_node,
                          .files = probed.files,
                          .declared = probed.declared};
  for (const DeviceInfo& other : all) {
    if (std::ranges::find(probed.nvlink_peers, other.uuid) != probed.nvlink_peers.end()) {
      info.links.push_back(static_cast<std::uint32_t>(other.index));
    }
  }
  if (!probed.mig_profile.empty()) info.attributes["mig_profile"] = probed.mig_profile;
  info.attributes["vendor"] = probed.vendor == Vendor::amd ? "amd" : "nvidia";
  return info;
}

}  // namespace

std::string model_word(std::string_view product) {
  std::string previous;
  std::string text = lower(product);
  std::ranges::replace(text, '-', ' ');
  for (const std::string_view word : split(text, ' ')) {
    const bool has_digit = std::ranges::any_of(word, [](char c) { return c >= '0' && c <= '9'; });
    if (has_digit) return (previous == "rtx" || previous == "gtx" ? previous : std::string{}) + std::string(word);
    previous = word;
  }
  return previous.empty() ? "gpu" : previous;
}

NodeInventory make_inventory(InventoryParts parts) {
  NodeInventory node = std::move(parts.declared);
  const HostInfo& host = parts.host;
  node.host_name = host.hostname;
  node.boot_id = host.boot_id;
  node.booted = host.booted;
  node.agent_started = parts.agent_started;
  node.version = parts.version;
  node.stream_path = parts.stream_path;
  node.stream_address = parts.stream_address;
  node.os = "Linux " + host.kernel;
  node.arch = host.architecture;
  const auto real_cpus = static_cast<std::uint32_t>(std::max<std::size_t>(host.cpus.size(), 1));
  if (node.cpus == 0) {
    node.cpus = real_cpus;
    node.sockets = static_cast<std::uint32_t>(host.sockets);
    node.cores_per_socket = static_cast<std::uint32_t>(host.cores_per_socket);
    node.threads_per_core = static_cast<std::uint32_t>(host.threads_per_core);
  } else if (node.cpus > real_cpus) {
    parts.limitations.push_back(
        fmt::format("{} CPUs are declared, the machine has {}: those beyond are not confined", node.cpus, real_cpus));
  }
  if (node.memory == Bytes{}) {
    node.memory = Bytes::of(host.memory_bytes);
  } else if (node.memory > Bytes::of(host.memory_bytes)) {
    parts.limitations.push_back(fmt::format("{} MiB of memory are declared, the machine has {}",
                                            node.memory.count() >> 20, host.memory_bytes >> 20));
  }
  for (const DeviceInfo& probed : parts.probed) node.devices.push_back(described(probed, parts.probed));
  node.limitations = std::move(parts.limitations);
  return node;
}

}  // namespace drover::agent
