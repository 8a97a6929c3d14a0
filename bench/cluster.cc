#include "bench/cluster.h"

#include <utility>

namespace drover::bench {
namespace {

Asked asked(std::size_t number, Request request) {
  Submit submit{.name = "bench" + std::to_string(number % 10), .request = std::move(request)};
  submit.spec.words[0] = number + 1;
  submit.limit = minutes(60);
  return {.caller = {.uid = 1000, .gid = 1000, .user = "bench", .group = "bench"}, .command = std::move(submit)};
}

}  // namespace

Input configure() {
  Config config;
  config.partitions.push_back({.name = "main", .is_default = true});
  return Configure{config};
}

Input node(std::uint32_t number, std::uint32_t cpus, std::uint32_t gpus) {
  NodeInventory inventory{.name = "n" + std::to_string(number), .boot_id = "b", .cpus = cpus,
                          .cores_per_socket = cpus, .memory = gibibytes(512)};
  for (std::uint32_t i = 0; i < gpus; ++i) {
    inventory.devices.push_back({.uuid = inventory.name + "-" + std::to_string(i), .model = "a100", .index = i,
                                 .memory = gibibytes(80)});
  }
  return NodeRegister{.inventory = std::move(inventory)};
}

Input submit_small(std::size_t number) {
  return asked(number, {.memory_rule = MemoryRule::per_node, .memory = mebibytes(64)});
}

Input submit_endless() {
  Asked wish = asked(0, {.memory_rule = MemoryRule::per_node, .memory = mebibytes(64)});
  std::get<Submit>(wish.command).limit = Duration{0};
  return wish;
}

// 200 shapes, as many as a real queue has.
Input submit_too_big(std::size_t number) {
  Request request{.min_nodes = 100, .max_nodes = 100, .memory_rule = MemoryRule::per_node,
                  .memory = mebibytes(static_cast<std::int64_t>(1024 + number % 200)), .exclusive = true};
  return asked(number, std::move(request));
}

std::vector<Event> settle(engine::Core& core, const Input& input, Instant now) {
  engine::Outcome outcome = core.step(input, now);
  std::vector<Event> facts = std::move(outcome.facts);
  while (outcome.pass_due) {
    outcome = core.step(Pass{250}, now);
    facts.insert(facts.end(), outcome.facts.begin(), outcome.facts.end());
  }
  return facts;
}

void live_once(engine::Core& core, const Input& submit, Instant now) {
  for (const Event& fact : settle(core, submit, now)) {
    const auto* placed = std::get_if<JobPlaced>(&fact);
    if (placed == nullptr) continue;
    const NodeId node = placed->placement.shares.front().node;
    settle(core, ReportStarted{.node = node, .job = placed->job, .attempt = placed->attempt}, now);
    settle(core, ReportEnded{.node = node, .job = placed->job, .attempt = placed->attempt}, now);
  }
}

}  // namespace drover::bench
