// Nodes and their devices: what an agent says of its machine, and what the cluster holds of it.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/describe.h"
#include "base/quantity.h"
#include "base/time.h"
#include "domain/cpu_set.h"
#include "domain/ids.h"
#include "domain/request.h"

namespace drover {

// One device as its node describes it. A device *is* its UUID; index, minor number and bus address
// are attributes that are read anew at each boot.
struct DeviceInfo {
  std::string uuid;
  std::string kind = "gpu";     // GRES name, resource class
  std::string model;            // GRES type and label word, e.g. "a100"
  std::string product;          // e.g. "NVIDIA A100-SXM4-80GB"
  std::uint32_t index = 0;      // on its node, in PCI bus order: what users see as the host number
  Bytes memory;                 // as NVML reports it
  std::uint32_t capability = 0; // compute capability x 10: 8.0 is 80
  std::string pci_bus;
  std::int32_t numa = -1;
  std::vector<std::uint32_t> links;  // indexes of NVLink neighbours
  std::vector<std::string> files;    // device files that a holder may open
  bool declared = false;             // from configuration, not seen by a driver
  bool healthy = true;
  std::map<std::string, std::string> attributes;  // anything else a condition may ask for
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "uuid", self.uuid);
    visit(2, "kind", self.kind);
    visit(3, "model", self.model);
    visit(4, "product", self.product);
    visit(5, "index", self.index);
    visit(6, "memory", self.memory);
    visit(7, "capability", self.capability);
    visit(8, "pci_bus", self.pci_bus);
    visit(9, "numa", self.numa);
    visit(10, "links", self.links);
    visit(11, "files", self.files);
    visit(12, "declared", self.declared);
    visit(13, "healthy", self.healthy);
    visit(14, "attributes", self.attributes);
  }
  friend bool operator==(const DeviceInfo&, const DeviceInfo&) = default;
};

// What an agent says of its machine when it registers.
struct NodeInventory {
  std::string name;
  std::string address;    // where other nodes reach it; "" from an agent that was told none
  std::string host_name;  // of the machine
  std::string boot_id;
  Instant booted;
  Instant agent_started;
  std::string version;  // of the agent
  std::string os;       // "Linux 6.1.0"
  std::string arch;     // "x86_64"
  std::uint32_t cpus = 1;
  std::uint32_t sockets = 1;
  std::uint32_t cores_per_socket = 1;
  std::uint32_t threads_per_core = 1;
  Bytes memory;
  Bytes disk;  // for jobs' temporary files
  std::vector<std::string> features;
  std::map<std::string, std::string> labels;
  std::vector<DeviceInfo> devices;
  std::vector<std::string> limitations;  // isolation that is off on this node, one sentence each
  std::string stream_path;     // Unix socket for steps' streams, for programs on that machine
  std::string stream_address;  // "host:port" of the same, for other machines (TLS); ":port" from an agent; "": none
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "name", self.name);
    visit(2, "address", self.address);
    visit(3, "host_name", self.host_name);
    visit(4, "boot_id", self.boot_id);
    visit(5, "booted", self.booted);
    visit(6, "agent_started", self.agent_started);
    visit(7, "version", self.version);
    visit(8, "os", self.os);
    visit(9, "arch", self.arch);
    visit(10, "cpus", self.cpus);
    visit(11, "sockets", self.sockets);
    visit(12, "cores_per_socket", self.cores_per_socket);
    visit(13, "threads_per_core", self.threads_per_core);
    visit(14, "memory", self.memory);
    visit(15, "disk", self.disk);
    visit(16, "features", self.features);
    visit(17, "labels", self.labels);
    visit(18, "devices", self.devices);
    visit(19, "limitations", self.limitations);
    visit(20, "stream_path", self.stream_path);
    visit(21, "stream_address", self.stream_address);
  }
  friend bool operator==(const NodeInventory&, const NodeInventory&) = default;
};

// Whether the controller hears from the node. `lost` kills nothing: its jobs stay unknown.
enum class Contact : std::uint8_t { up, lost };
[[nodiscard]] constexpr std::string_view word(Contact c) {
  switch (c) {
    case Contact::up: return "up";
    case Contact::lost: return "lost";
  }
  return "";
}

// What an administrator (or drover itself) wants of the node.
struct Drain {
  std::string reason;
  std::uint32_t uid = 0;
  std::string user;
  Instant since;
  bool down = false;  // Slurm's DOWN: as drain, and shown so
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "reason", self.reason);
    visit(2, "uid", self.uid);
    visit(3, "user", self.user);
    visit(4, "since", self.since);
    visit(5, "down", self.down);
  }
  friend bool operator==(const Drain&, const Drain&) = default;
};

struct Device {
  DeviceId id;
  DeviceInfo info;
  Milli used;  // thousandths granted; a whole device is 1000
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "id", self.id);
    visit(2, "info", self.info);
    visit(3, "used", self.used);
  }
  friend bool operator==(const Device&, const Device&) = default;
};

struct Taint {
  std::string key;
  std::string value;
  TaintEffect effect = TaintEffect::no_schedule;
  Instant since;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "key", self.key);
    visit(2, "value", self.value);
    visit(3, "effect", self.effect);
    visit(4, "since", self.since);
  }
  friend bool operator==(const Taint&, const Taint&) = default;
};

// What people have written on a node, beside what its agent says of it.
struct NodeMarks {
  std::map<std::string, std::string> labels;  // before those of the agent where both name one
  std::map<std::string, std::string> annotations;
  std::vector<Taint> taints;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "labels", self.labels);
    visit(2, "annotations", self.annotations);
    visit(3, "taints", self.taints);
  }
  friend bool operator==(const NodeMarks&, const NodeMarks&) = default;
};

struct Node {
  NodeId id;
  NodeInventory inventory;      // without its devices, which stand below
  std::vector<Device> devices;  // in index order; those that vanished at a boot stay, unhealthy
  Contact contact = Contact::up;
  Instant contact_since;
  std::optional<Drain> drain;
  Instant registered;  // the last registration
  Instant last_busy;
  std::uint32_t launch_failures = 0;  // in a row
  NodeMarks marks;
  std::uint64_t version = 0;          // of its last change (Cluster::version)

  // What is granted, and to whom.
  CpuSet cpus_used;                           // whole, or in parts
  std::map<std::uint32_t, Milli> cpu_parts;   // of those that are granted in parts: how much of each
  Bytes memory_used;
  std::set<JobId> jobs;
  std::uint32_t exclusive = 0;  // how many of `jobs` hold the node for themselves (0 or 1)

  [[nodiscard]] const std::string& name() const { return inventory.name; }
  [[nodiscard]] std::uint32_t cpus_free() const { return inventory.cpus - cpus_used.count(); }
  [[nodiscard]] Bytes memory_free() const { return inventory.memory - memory_used; }
  // May new work be placed here at all?
  [[nodiscard]] bool open() const { return contact == Contact::up && !drain; }

  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "id", self.id);
    visit(2, "inventory", self.inventory);
    visit(3, "devices", self.devices);
    visit(4, "contact", self.contact);
    visit(5, "contact_since", self.contact_since);
    visit(6, "drain", self.drain);
    visit(7, "registered", self.registered);
    visit(8, "last_busy", self.last_busy);
    visit(9, "launch_failures", self.launch_failures);
    visit(10, "marks", self.marks);
    visit(11, "version", self.version);
  }
  friend bool operator==(const Node&, const Node&) = default;
};

}  // namespace drover
