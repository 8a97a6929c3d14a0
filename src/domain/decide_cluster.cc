// Wishes and news about nodes, partitions and the configuration.
#include <algorithm>
#include <set>

#include "base/text.h"
#include "domain/attempts.h"
#include "domain/decide.h"
#include "domain/may.h"

namespace drover {
namespace {

constexpr std::size_t kMaxDevices = 64;  // on one node
constexpr std::uint32_t kMaxCpus = 65'536;

Refusal invalid(std::string subject) {
  return {.code = RefusalCode::invalid_request, .subject = std::move(subject)};
}

std::optional<Refusal> check_node_wish(const Cluster& cluster, const UpdateNode& wish) {
  if (wish.nodes.empty()) return invalid("no node named");
  for (const std::string& name : wish.nodes) {
    const Node* node = cluster.node(name);
    if (node == nullptr) return Refusal{.code = RefusalCode::unknown_node, .subject = printable(name)};
    if (wish.wish == NodeWish::confirm_dead && node->contact == Contact::up) {
      return invalid(name + ": it answers, only a lost node can be confirmed dead");
    }
  }
  if (wish.wish != NodeWish::resume && wish.reason.empty()) return invalid("a reason is needed");
  if (wish.reason.size() > 1024) return invalid("reason");
  return std::nullopt;
}

std::optional<Refusal> check_inventory(const NodeInventory& inventory) {
  if (inventory.name.empty() || inventory.name.size() > 255) return invalid("node name");
  if (inventory.cpus == 0 || inventory.cpus > kMaxCpus) return invalid("cpus of the node");
  if (inventory.memory < Bytes{} || inventory.disk < Bytes{}) return invalid("memory of the node");
  if (inventory.devices.size() > kMaxDevices) return invalid("more than 64 devices on one node");
  std::set<std::string> uuids;
  for (const DeviceInfo& device : inventory.devices) {
    if (device.uuid.empty() || !uuids.insert(device.uuid).second) return invalid("device UUIDs of the node");
  }
  return std::nullopt;
}

// The ids of the devices: the node's own ones keep theirs, by UUID.
std::vector<DeviceId> device_ids(const Cluster& cluster, const NodeInventory& inventory) {
  const Node* node = cluster.node(inventory.name);
  std::uint64_t next = cluster.device_count() + 1;
  std::vector<DeviceId> ids;
  for (const DeviceInfo& device : inventory.devices) {
    DeviceId id{};
    if (node != nullptr) {
      const auto same = [&](const Device& d) { return d.info.uuid == device.uuid; };
      const auto found = std::ranges::find_if(node->devices, same);
      if (found != node->devices.end()) id = found->id;
    }
    ids.push_back(id ? id : DeviceId(next++));
  }
  return ids;
}

}  // namespace

Answer decide_node(Facts& facts, const Caller& caller, const UpdateNode& wish, Instant now) {
  if (!may(facts.cluster(), caller, Verb::change_node, 0)) {
    return Refusal{.code = RefusalCode::not_permitted, .subject = "nodes"};
  }
  if (auto refusal = check_node_wish(facts.cluster(), wish)) return std::move(*refusal);
  for (const std::string& name : wish.nodes) {
    const Node& node = *facts.cluster().node(name);
    const NodeId id = node.id;
    if (wish.wish == NodeWish::resume) {
      if (node.drain) facts.add(NodeDrainChanged{.node = id});
      continue;
    }
    facts.add(NodeDrainChanged{.node = id,
                               .drain = Drain{.reason = wish.reason,
                                              .uid = caller.uid,
                                              .user = caller.user,
                                              .since = now,
                                              .down = wish.wish != NodeWish::drain}});
    if (wish.wish == NodeWish::confirm_dead) fail_attempts(facts, id, "the node was confirmed dead", now);
  }
  return Reply{};
}

Answer decide_partition(Facts& facts, const Caller& caller, const UpdatePartition& wish) {
  if (!may(facts.cluster(), caller, Verb::change_partition, 0)) {
    return Refusal{.code = RefusalCode::not_permitted, .subject = "partitions"};
  }
  const Partition* partition = facts.cluster().partition(wish.name);
  if (partition == nullptr) {
    return Refusal{.code = RefusalCode::unknown_partition, .subject = printable(wish.name)};
  }
  if (partition->up != wish.up) facts.add(PartitionChanged{.name = wish.name, .up = wish.up});
  return Reply{};
}

std::optional<Refusal> decide_configure(Facts& facts, const Config& config) {
  std::set<std::string> names;
  bool standard = false;
  for (const Partition& partition : config.partitions) {
    if (partition.name.empty() || partition.name.find(',') != std::string::npos) return invalid("partition name");
    if (!names.insert(partition.name).second) return invalid("partition " + partition.name + " stands twice");
    if (partition.is_default && standard) return invalid("two default partitions");
    standard = standard || partition.is_default;
    if (partition.max_time < Duration{0} || partition.default_time < Duration{0}) {
      return invalid("times of partition " + partition.name);
    }
    if (partition.max_nodes > 0 && partition.min_nodes > partition.max_nodes) {
      return invalid("node limits of partition " + partition.name);
    }
  }
  if (config.settings.max_array_size == 0 || config.settings.max_array_size > 4'000'001) {
    return invalid("max_array_size");
  }
  if (config.settings.launch_failures == 0) return invalid("launch_failures");
  if (!(facts.cluster().config() == config)) facts.add(Configured{.config = config});
  return std::nullopt;
}

std::optional<Refusal> decide_register(Facts& facts, const NodeRegister& input, Instant now) {
  if (auto refusal = check_inventory(input.inventory)) return refusal;
  const Node* known = facts.cluster().node(input.inventory.name);
  const bool new_boot = known != nullptr && known->inventory.boot_id != input.inventory.boot_id;
  const NodeId id = known != nullptr ? known->id : NodeId(facts.cluster().nodes().size() + 1);
  facts.add(NodeRegistered{.node = id,
                           .inventory = input.inventory,
                           .devices = device_ids(facts.cluster(), input.inventory),
                           .at = now});
  if (new_boot) fail_attempts(facts, id, "the node was restarted", now);
  else judge_attempts(facts, id, input.held, now);
  return std::nullopt;
}

}  // namespace drover
