// What a job asks of the nodes that it runs on: a divisible request (so many tasks over a range of
// nodes, with a part per node and a part per task). Requests are interned as shapes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/describe.h"
#include "base/quantity.h"
#include "domain/label_term.h"
#include "domain/pod_term.h"

namespace drover {

struct GpuAsk {
  std::string model;  // "" is any; matched without regard to case, in whole
  std::uint32_t count = 0;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "model", self.model);
    visit(2, "count", self.count);
  }
  friend auto operator<=>(const GpuAsk&, const GpuAsk&) = default;
};

// How a job's memory is reckoned on each of its nodes.
enum class MemoryRule : std::uint8_t {
  proportional,  // not asked for: the node's memory in proportion to the CPUs granted there
  per_node,
  per_cpu,
  per_gpu,
  whole_node,  // --mem=0
};
[[nodiscard]] constexpr std::string_view word(MemoryRule r) {
  switch (r) {
    case MemoryRule::proportional: return "proportional";
    case MemoryRule::per_node: return "per_node";
    case MemoryRule::per_cpu: return "per_cpu";
    case MemoryRule::per_gpu: return "per_gpu";
    case MemoryRule::whole_node: return "whole_node";
  }
  return "";
}

// What a node keeps work off with, and what work says to come all the same.
enum class TaintEffect : std::uint8_t { any, no_schedule, prefer_no_schedule, no_execute };
[[nodiscard]] constexpr std::string_view word(TaintEffect e) {
  switch (e) {
    case TaintEffect::any: return "any";  // of a toleration alone
    case TaintEffect::no_schedule: return "no_schedule";
    case TaintEffect::prefer_no_schedule: return "prefer_no_schedule";
    case TaintEffect::no_execute: return "no_execute";
  }
  return "";
}
struct Toleration {
  std::string key;      // "" with `exists`: every taint
  std::string value;
  bool exists = false;  // whatever the value
  TaintEffect effect = TaintEffect::any;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "key", self.key);
    visit(2, "value", self.value);
    visit(3, "exists", self.exists);
    visit(4, "effect", self.effect);
  }
  friend bool operator==(const Toleration&, const Toleration&) = default;
};

struct Request {
  std::uint32_t min_nodes = 1;
  std::uint32_t max_nodes = 0;  // 0: as many as it takes
  std::uint32_t tasks = 0;      // 0: one per node, or what the GPU asks imply
  std::uint32_t tasks_per_node = 0;  // 0: no bound; with `tasks` an upper bound, alone exact
  std::uint32_t cpus_per_task = 1;  // 0: none of its own (a pod that asks for no CPU)
  std::uint32_t cpu_milli = 0;  // on each node, beside those: thousandths of CPUs, which others may share (a pod's)
  std::uint32_t cpus_per_gpu = 0;  // 0: not asked; else CPUs on a node = max(tasks x cpus, gpus x this)
  MemoryRule memory_rule = MemoryRule::proportional;
  Bytes memory;
  std::vector<GpuAsk> gpus_per_node;
  std::vector<GpuAsk> gpus_per_task;
  std::vector<GpuAsk> gpus_per_job;  // over all nodes; at least one on each node that is used
  std::string gpu_condition;  // domain/condition.h, on attributes of each granted GPU; "" none
  std::string features;       // domain/features.h, on node features: "a100&nvlink", "a|b"; "" none
  std::vector<std::string> include_nodes;  // all of these must be among the nodes
  std::vector<std::string> exclude_nodes;
  Bytes disk;               // temporary space on each node
  bool exclusive = false;   // whole nodes: all their CPUs and GPUs; memory only as asked (C79)
  bool overcommit = false;  // one CPU per node however many tasks
  bool contiguous = false;
  std::uint32_t threads_per_core = 0;
  std::vector<LabelTerms> labels;        // of its nodes: one of these; empty: any node
  std::vector<Toleration> tolerations;
  std::vector<PodTerm> near;             // pods that its nodes must be near to: all of these (Kubernetes' pod affinity)
  std::vector<PodTerm> apart;            // pods that its nodes must be apart from: none of these (pod anti-affinity)
  std::vector<SpreadTerm> spread;        // how evenly pods like it must lie: all of these

  // Does it matter to it where others are?
  [[nodiscard]] bool looks_around() const { return !near.empty() || !apart.empty() || !spread.empty(); }

  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "min_nodes", self.min_nodes);
    visit(2, "max_nodes", self.max_nodes);
    visit(3, "tasks", self.tasks);
    visit(4, "tasks_per_node", self.tasks_per_node);
    visit(5, "cpus_per_task", self.cpus_per_task);
    visit(6, "cpus_per_gpu", self.cpus_per_gpu);
    visit(7, "memory_rule", self.memory_rule);
    visit(8, "memory", self.memory);
    visit(9, "gpus_per_node", self.gpus_per_node);
    visit(10, "gpus_per_task", self.gpus_per_task);
    visit(11, "gpus_per_job", self.gpus_per_job);
    visit(12, "gpu_condition", self.gpu_condition);
    visit(13, "features", self.features);
    visit(14, "include_nodes", self.include_nodes);
    visit(15, "exclude_nodes", self.exclude_nodes);
    visit(16, "disk", self.disk);
    visit(17, "exclusive", self.exclusive);
    visit(18, "overcommit", self.overcommit);
    visit(19, "contiguous", self.contiguous);
    visit(20, "threads_per_core", self.threads_per_core);
    visit(21, "labels", self.labels);
    visit(22, "tolerations", self.tolerations);
    visit(23, "near", self.near);
    visit(24, "apart", self.apart);
    visit(25, "spread", self.spread);
    visit(26, "cpu_milli", self.cpu_milli);
  }
  friend bool operator==(const Request&, const Request&) = default;
};

}  // namespace drover
