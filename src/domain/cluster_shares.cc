// What nodes have granted: the ledger that placements are entered into, and taken out of.
#include "base/check.h"
#include "domain/cluster.h"

namespace drover {

void Cluster::hold_resources(const Job& job) {
  for (const NodeShare& share : job.run->placement->shares) {
    if (!job.holds(share.node)) continue;
    Node& node = node_at(share.node);
    CHECK(!node.cpus_used.intersects(share.cpus));
    node.cpus_used |= share.cpus;
    for (const CpuPart& part : share.parts) {
      CHECK(!node.cpus_used.contains(part.cpu) || node.cpu_parts.contains(part.cpu));
      node.cpus_used.add(part.cpu);
      node.cpu_parts[part.cpu] += part.milli;
      CHECK(node.cpu_parts[part.cpu] <= Milli::of(1000));
    }
    node.memory_used += share.memory;
    for (const Grant& grant : share.devices) {
      Device& device = device_at(grant.device);
      device.used += grant.milli;
      CHECK(device.used <= Milli::of(1000));
    }
    node.jobs.insert(job.id);
    if (job.run->placement->exclusive) ++node.exclusive;
  }
}

void Cluster::free_resources(const Job& job, Instant now) {
  for (const NodeShare& share : job.run->placement->shares) {
    if (job.holds(share.node)) free_share(job, share, now);
  }
}

void Cluster::free_share(const Job& job, const NodeShare& share, Instant now) {
  Node& node = node_at(share.node);
  node.cpus_used -= share.cpus;
  for (const CpuPart& part : share.parts) {  // the last one gives the CPU back as a whole
    const auto held = node.cpu_parts.find(part.cpu);
    held->second -= part.milli;
    if (held->second > Milli{}) continue;
    node.cpu_parts.erase(held);
    node.cpus_used.remove(part.cpu);
  }
  node.memory_used -= share.memory;
  for (const Grant& grant : share.devices) device_at(grant.device).used -= grant.milli;
  node.jobs.erase(job.id);
  if (job.run->placement->exclusive) --node.exclusive;
  node.last_busy = now;
}

}  // namespace drover
