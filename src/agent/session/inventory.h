// What a node says of itself: the machine as probed, with what its configuration declares on top.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/probe/device.h"
#include "agent/probe/host.h"
#include "domain/node.h"

namespace drover::agent {

struct InventoryParts {
  NodeInventory declared;  // 0 CPUs or memory, no name of the host: as the machine has
  HostInfo host;
  std::vector<DeviceInfo> probed;        // real ones; empty when `declared` names its devices
  std::vector<std::string> limitations;  // isolation that is off here
  std::string stream_path;
  std::string stream_address;  // ":PORT" of the door for other machines; "": none
  std::string version;
  Instant agent_started;
};
[[nodiscard]] NodeInventory make_inventory(InventoryParts parts);

// The word that people ask for: "NVIDIA A100-SXM4-80GB" is an a100, "Tesla T4" a t4.
[[nodiscard]] std::string model_word(std::string_view product);

}  // namespace drover::agent
