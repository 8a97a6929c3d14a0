// A Request made plain for placing: bounds resolved, expressions parsed, GPU asks merged.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "domain/condition.h"
#include "domain/features.h"
#include "domain/refusal.h"
#include "domain/request.h"

namespace drover::policy {

inline constexpr std::size_t kMaxAsks = 4;  // different GPU models in one request

struct Ask {
  std::string model;  // "" any; those with a model come first
  std::uint32_t per_node = 0;
  std::uint32_t per_task = 0;
};

// A node is filled by units: tasks, or (gpus_total > 0) GPUs of the one ask.
struct Need {
  Request request;
  std::uint32_t min_nodes = 1;
  std::uint32_t max_nodes = 1;
  std::uint32_t tasks = 0;       // to be spread; 0: every node gets tasks_each
  std::uint32_t tasks_each = 1;
  std::uint32_t task_cap = 0;    // on one node; 0: no bound
  std::uint32_t gpus_total = 0;  // over all nodes
  std::vector<Ask> asks;
  Condition condition;
  Features features;

  // The fewest units that make a node worth taking, and the number over all nodes (0: as many nodes
  // as it gets, each with the fewest).
  [[nodiscard]] std::uint32_t least_units() const { return gpus_total > 0 || tasks > 0 ? 1 : tasks_each; }
  [[nodiscard]] std::uint32_t all_units() const { return gpus_total > 0 ? gpus_total : tasks; }
  [[nodiscard]] std::uint32_t most_units() const { return all_units() > 0 ? all_units() : tasks_each; }
  // Tasks on a node that gets so many units.
  [[nodiscard]] std::uint32_t tasks_of(std::uint32_t units) const;
  [[nodiscard]] bool wants_gpus() const { return !asks.empty(); }
};

[[nodiscard]] std::variant<Need, Refusal> make_need(const Request& request);
// Of a request that was accepted before.
[[nodiscard]] Need need_of(const Request& request);

}  // namespace drover::policy
