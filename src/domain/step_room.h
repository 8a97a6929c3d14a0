// What one node of a job has left for a step, and how many tasks of a request that holds. Internal to
// step_fit.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "domain/step_fit.h"

namespace drover {

// What was not enough, and of how much.
struct StepLack {
  std::string_view name;  // "nodes", "cpus", "memory_mib", "gpus", "tasks"
  std::int64_t have = 0;
  std::int64_t want = 0;
};

class StepRoom {
 public:
  StepRoom(const StepRequest& request, const StepNode& node) : request_(request), node_(node) {
    cpus_ = node.share->cpus;
    memory_ = node.share->memory;
    free_.assign(node.devices.size(), true);
  }
  // Takes away what the steps hold; one that overlaps holds nothing.
  void subtract(const std::map<std::uint32_t, Step>& others);
  void close() { open_ = false; }

  // How many tasks it holds, at most `most`; 0: none. Any number from 1 up to it fits too.
  [[nodiscard]] std::uint32_t capacity(std::uint32_t most) const;
  // Why `tasks` tasks don't fit; nothing when they do.
  [[nodiscard]] std::optional<StepLack> lack(std::uint32_t tasks) const;
  // How many GPUs of that model a step may have here.
  [[nodiscard]] std::uint32_t gpus(const GpuAsk& ask) const;

  // How many of those that so many tasks get anyway count towards that ask.
  [[nodiscard]] std::uint32_t gpus_anyway(const GpuAsk& ask, std::uint32_t tasks) const;

  // The share of `tasks` tasks that fit; `more` is what StepRequest::gpus adds here.
  [[nodiscard]] NodeShare take(std::uint32_t tasks, const std::vector<GpuAsk>& more) const;

  [[nodiscard]] const StepNode& node() const { return node_; }

 private:
  [[nodiscard]] bool only_needed() const { return request_.exact || request_.cpus_per_task > 0; }
  [[nodiscard]] std::uint64_t cpus_of(std::uint32_t tasks) const;   // that so many tasks are given
  [[nodiscard]] std::vector<GpuAsk> gpus_of(std::uint32_t tasks) const;
  [[nodiscard]] Bytes memory_of(std::uint32_t tasks, std::uint64_t gpus) const;  // that they are charged
  [[nodiscard]] bool takes_all_gpus() const;
  [[nodiscard]] bool is_gpu(std::size_t place) const { return node_.devices[place]->kind == "gpu"; }
  [[nodiscard]] std::uint32_t all_gpus() const;
  // Marks what the asks take; false: there are too few.
  bool pick(const std::vector<GpuAsk>& asks, std::vector<bool>& picked) const;

  const StepRequest& request_;
  const StepNode& node_;
  CpuSet cpus_;
  Bytes memory_;
  std::vector<bool> free_;  // by place in node_.devices
  bool open_ = true;
};

}  // namespace drover
