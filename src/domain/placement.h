// What a placed job holds: complete down to device, CPU and byte, so no later code decides it again.
#pragma once

#include <cstdint>
#include <vector>

#include "base/describe.h"
#include "base/quantity.h"
#include "domain/cpu_set.h"
#include "domain/ids.h"

namespace drover {

// A share of one device: fractions, memory shares, MIG and vGPU fit the same ledger.
struct Grant {
  DeviceId device;
  Milli milli = Milli::of(1000);
  Bytes memory;  // 0: the device's memory is not divided
  std::string profile;  // MIG profile or vGPU type, "" for a plain share
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "device", self.device);
    visit(2, "milli", self.milli);
    visit(3, "memory", self.memory);
    visit(4, "profile", self.profile);
  }
  friend bool operator==(const Grant&, const Grant&) = default;
};

// Of one CPU that is granted in parts; others may have the rest of it.
struct CpuPart {
  std::uint32_t cpu = 0;
  Milli milli;  // more than 0, at most 1000
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "cpu", self.cpu);
    visit(2, "milli", self.milli);
  }
  friend bool operator==(const CpuPart&, const CpuPart&) = default;
};

struct NodeShare {
  NodeId node;
  std::uint32_t tasks = 1;
  CpuSet cpus;  // whole ones
  Bytes memory;
  std::vector<Grant> devices;  // in index order on the node
  std::vector<CpuPart> parts;  // beside the whole CPUs, in rising order

  // Where its processes may run.
  [[nodiscard]] CpuSet all_cpus() const {
    CpuSet all = cpus;
    for (const CpuPart& part : parts) all.add(part.cpu);
    return all;
  }
  // What it holds, rounded up: Slurm's tables know no parts.
  [[nodiscard]] std::uint32_t cpu_count() const {
    std::int64_t milli = 0;
    for (const CpuPart& part : parts) milli += part.milli.count();
    return cpus.count() + static_cast<std::uint32_t>((milli + 999) / 1000);
  }
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "node", self.node);
    visit(2, "tasks", self.tasks);
    visit(3, "cpus", self.cpus);
    visit(4, "memory", self.memory);
    visit(5, "devices", self.devices);
    visit(6, "parts", self.parts);
  }
  friend bool operator==(const NodeShare&, const NodeShare&) = default;
};

// In order of the nodes' names; the first runs the batch script.
struct Placement {
  std::vector<NodeShare> shares;
  bool exclusive = false;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "shares", self.shares);
    visit(2, "exclusive", self.exclusive);
  }
  friend bool operator==(const Placement&, const Placement&) = default;
};

}  // namespace drover
