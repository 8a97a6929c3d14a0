#include "kube/object/node/node_status.h"

#include <algorithm>

#include "kube/object/pod/parts.h"
#include "kube/object/times.h"

namespace drover::kube {
namespace {

constexpr std::uint32_t kPods =
    110;  // as many as a Kubernetes node has; a bigger machine has one a CPU

std::string kibibytes(Bytes bytes) { return std::to_string(bytes.count() >> 10) + "Ki"; }

Object amounts(const Node& node, bool healthy_only) {
  const NodeInventory& inventory = node.inventory;
  Object list{{"cpu", std::to_string(inventory.cpus)},
              {"ephemeral-storage", kibibytes(inventory.disk)},
              {"memory", kibibytes(inventory.memory)},
              {"pods", std::to_string(std::max(kPods, inventory.cpus))}};
  std::size_t all = 0;
  std::size_t counted = 0;
  for (const Device& device : node.devices) {
    if (device.info.kind != "gpu") continue;
    ++all;
    if (device.info.healthy || !healthy_only) ++counted;
  }
  if (all > 0) list[kGpuResource] = std::to_string(counted);
  return list;
}

Object condition(const Node& node, const NodeView& view, std::string_view type, bool good_is_true,
                 std::string_view reason, std::string_view message) {
  const bool lost = node.contact == Contact::lost;
  const char* status = lost ? "Unknown" : good_is_true ? "True" : "False";
  return {{"type", type},
          {"status", status},
          {"lastHeartbeatTime", time_text(view.heard)},
          {"lastTransitionTime", time_text(node.contact_since)},
          {"reason", lost ? "NodeStatusUnknown" : reason},
          {"message", lost ? "Kubelet stopped posting node status." : message}};
}

// The reasons and messages of Kubernetes' node agent, which dashboards look for.
Array conditions(const Node& node, const NodeView& view) {
  return {condition(node, view, "NetworkUnavailable", false, "RouteCreated",
                    "the node's own network is in use"),
          condition(node, view, "MemoryPressure", false, "KubeletHasSufficientMemory",
                    "kubelet has sufficient memory available"),
          condition(node, view, "DiskPressure", false, "KubeletHasNoDiskPressure",
                    "kubelet has no disk pressure"),
          condition(node, view, "PIDPressure", false, "KubeletHasSufficientPID",
                    "kubelet has sufficient PID available"),
          condition(node, view, "Ready", true, "KubeletReady", "kubelet is posting ready status")};
}

bool is_address(std::string_view text) {
  const bool v4 = text.find_first_not_of("0123456789.") == std::string_view::npos;
  const bool v6 = text.find(':') != std::string_view::npos &&
                  text.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos;
  return !text.empty() && (v4 || v6);
}

Array addresses(const Node& node) {
  Array list;
  const std::string& address = node.inventory.address;
  if (!address.empty()) {
    const char* type = is_address(address) ? "InternalIP" : "InternalDNS";
    list.push_back(Object{{"type", type}, {"address", address}});
  }
  const std::string& host = node.inventory.host_name;
  list.push_back(Object{{"type", "Hostname"}, {"address", host.empty() ? node.name() : host}});
  return list;
}

Object info(const Node& node, const NodeView& view) {
  const NodeInventory& inventory = node.inventory;
  const auto space = inventory.os.find(' ');  // "Linux 6.1.0"
  const std::string kernel = space == std::string::npos ? "" : inventory.os.substr(space + 1);
  const std::string arch = inventory.arch == "x86_64"    ? "amd64"
                           : inventory.arch == "aarch64" ? "arm64"
                                                         : inventory.arch;
  return {{"machineID", ""},
          {"systemUUID", ""},
          {"bootID", inventory.boot_id},
          {"kernelVersion", kernel},
          {"osImage", inventory.os.substr(0, space)},
          {"containerRuntimeVersion", view.runtime},
          {"kubeletVersion", view.version + "-drover" + inventory.version},
          {"kubeProxyVersion", ""},
          {"operatingSystem", "linux"},
          {"architecture", arch}};
}

}  // namespace

Object node_status(const Node& node, const NodeView& view) {
  return {{"capacity", amounts(node, false)},
          {"allocatable", amounts(node, true)},
          {"conditions", conditions(node, view)},
          {"addresses", addresses(node)},
          {"daemonEndpoints", Object{{"kubeletEndpoint", Object{{"Port", 0}}}}},
          {"nodeInfo", info(node, view)},
          {"images", Array{}}};
}

}  // namespace drover::kube
