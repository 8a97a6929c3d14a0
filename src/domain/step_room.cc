#include "domain/step_room.h"

#include <algorithm>

#include "base/text.h"

namespace drover {
namespace {

bool is_like(const GpuAsk& ask, const DeviceInfo& device) {
  return device.kind == "gpu" && (ask.model.empty() || iequals(ask.model, device.model));
}

std::uint64_t total(const std::vector<GpuAsk>& asks) {
  std::uint64_t sum = 0;
  for (const GpuAsk& ask : asks) sum += ask.count;
  return sum;
}

}  // namespace

void StepRoom::subtract(const std::map<std::uint32_t, Step>& others) {
  for (const auto& [number, step] : others) {
    if (step.request.overlap || !step.uses(node_.share->node)) continue;
    for (const StepShare& held : step.shares) {
      if (held.share.node != node_.share->node) continue;
      cpus_ -= held.share.cpus;
      memory_ = std::max(Bytes{}, memory_ - held.share.memory);
      for (std::size_t i = 0; i < free_.size(); ++i) {
        const auto same = [&](const Grant& grant) { return grant.device == node_.share->devices[i].device; };
        if (std::ranges::any_of(held.share.devices, same)) free_[i] = false;
      }
    }
  }
}

bool StepRoom::takes_all_gpus() const {
  return !request_.no_gpus && request_.gpus_per_node.empty() && request_.gpus_per_task.empty() &&
         request_.gpus.empty();
}

std::uint32_t StepRoom::all_gpus() const {
  return static_cast<std::uint32_t>(
      std::ranges::count_if(node_.devices, [](const DeviceInfo* device) { return device->kind == "gpu"; }));
}

std::uint32_t StepRoom::gpus(const GpuAsk& ask) const {
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < free_.size(); ++i) count += free_[i] && is_like(ask, *node_.devices[i]) ? 1U : 0U;
  return count;
}

std::uint64_t StepRoom::cpus_of(std::uint32_t tasks) const {
  if (!only_needed()) return node_.share->cpus.count();
  const std::uint64_t needed = std::uint64_t{tasks} * std::max(1U, request_.cpus_per_task);
  if (!request_.overcommit) return needed;
  return std::max<std::uint64_t>(1, std::min<std::uint64_t>(needed, cpus_.count()));
}

// What is asked of a node and what its tasks ask is one and the same GPU, model by model.
std::vector<GpuAsk> StepRoom::gpus_of(std::uint32_t tasks) const {
  std::vector<GpuAsk> asks = request_.gpus_per_node;
  for (const GpuAsk& each : request_.gpus_per_task) {
    const std::uint64_t count = std::min<std::uint64_t>(std::uint64_t{each.count} * tasks, UINT32_MAX);
    const auto same = [&](const GpuAsk& ask) { return iequals(ask.model, each.model); };
    auto found = std::ranges::find_if(asks, same);
    if (found == asks.end()) found = asks.insert(asks.end(), {.model = each.model, .count = 0});
    found->count = std::max(found->count, static_cast<std::uint32_t>(count));
  }
  return asks;
}

Bytes StepRoom::memory_of(std::uint32_t tasks, std::uint64_t gpus) const {
  switch (request_.memory_rule) {
    case MemoryRule::proportional: return Bytes{};
    case MemoryRule::per_node: return request_.memory;
    case MemoryRule::per_cpu: return request_.memory * static_cast<std::int64_t>(cpus_of(tasks));
    case MemoryRule::per_gpu: return request_.memory * static_cast<std::int64_t>(gpus);
    case MemoryRule::whole_node: return node_.share->memory;
  }
  return Bytes{};
}

bool StepRoom::pick(const std::vector<GpuAsk>& asks, std::vector<bool>& picked) const {
  const auto take = [&](const GpuAsk& ask) {
    std::uint32_t left = ask.count;
    for (std::size_t i = 0; i < free_.size() && left > 0; ++i) {
      if (!free_[i] || picked[i] || !is_like(ask, *node_.devices[i])) continue;
      picked[i] = true;
      --left;
    }
    return left == 0;
  };
  // Those that name a model first: any will do for the others.
  for (const bool named : {true, false}) {
    for (const GpuAsk& ask : asks) {
      if (ask.model.empty() != named && !take(ask)) return false;
    }
  }
  return true;
}

std::optional<StepLack> StepRoom::lack(std::uint32_t tasks) const {
  if (!open_) return StepLack{.name = "nodes", .have = 0, .want = 1};
  const std::uint64_t all = node_.share->cpus.count();
  const std::uint64_t needed =
      request_.overcommit ? 1 : std::uint64_t{tasks} * std::max(1U, request_.cpus_per_task);
  const std::uint64_t have = only_needed() || cpus_.count() == all ? cpus_.count() : 0;
  if (needed > have) {
    return StepLack{.name = "cpus", .have = static_cast<std::int64_t>(have), .want = static_cast<std::int64_t>(needed)};
  }
  std::uint64_t gpus = 0;
  if (takes_all_gpus()) {
    gpus = all_gpus();
    const std::uint32_t there = this->gpus({});
    if (there < gpus) return StepLack{.name = "gpus", .have = there, .want = static_cast<std::int64_t>(gpus)};
  } else if (!request_.no_gpus) {
    std::vector<GpuAsk> asks = gpus_of(tasks);
    gpus = total(asks);
    if (std::vector<bool> picked(free_.size()); !pick(asks, picked)) {
      return StepLack{.name = "gpus", .have = this->gpus({}), .want = static_cast<std::int64_t>(gpus)};
    }
    const bool one_each = request_.gpus.size() == 1;  // a node without any would be of no use
    if (one_each && this->gpus(request_.gpus.front()) == 0) return StepLack{.name = "gpus", .have = 0, .want = 1};
  }
  const Bytes charged = memory_of(tasks, gpus);
  if (charged > memory_ && node_.share->memory > Bytes{}) {
    return StepLack{.name = "memory_mib", .have = memory_.count() >> 20, .want = charged.count() >> 20};
  }
  return std::nullopt;
}

std::uint32_t StepRoom::capacity(std::uint32_t most) const {
  std::uint32_t fits = 0;
  for (std::uint32_t too_many = most + 1; too_many - fits > 1;) {
    const std::uint32_t middle = fits + (too_many - fits) / 2;
    (lack(middle) ? too_many : fits) = middle;
  }
  return fits;
}

std::uint32_t StepRoom::gpus_anyway(const GpuAsk& ask, std::uint32_t tasks) const {
  std::uint32_t count = 0;
  for (const GpuAsk& own : gpus_of(tasks)) count += ask.model.empty() || iequals(ask.model, own.model) ? own.count : 0;
  return count;
}

NodeShare StepRoom::take(std::uint32_t tasks, const std::vector<GpuAsk>& more) const {
  NodeShare share{.node = node_.share->node, .tasks = tasks};
  std::uint64_t wanted = cpus_of(tasks);
  for (const std::uint32_t cpu : cpus_.list()) {
    if (wanted == 0) break;
    share.cpus.add(cpu);
    --wanted;
  }
  std::vector<bool> picked(free_.size());
  if (takes_all_gpus()) {
    picked = free_;
  } else if (!request_.no_gpus) {
    std::vector<GpuAsk> asks = gpus_of(tasks);
    asks.insert(asks.end(), more.begin(), more.end());
    pick(asks, picked);
  }
  std::uint64_t gpus = 0;
  for (std::size_t i = 0; i < free_.size(); ++i) {
    if (!picked[i] && is_gpu(i)) continue;  // devices of other kinds are the job's in common
    share.devices.push_back(node_.share->devices[i]);
    gpus += is_gpu(i) ? 1U : 0U;
  }
  share.memory = memory_of(tasks, gpus);
  return share;
}

}  // namespace drover
