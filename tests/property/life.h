// A random life of a cluster: inputs drawn from a seed and from what the cluster looks like.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "domain/cluster.h"
#include "domain/input.h"

namespace drover::property {

class Life {
 public:
  explicit Life(std::uint64_t seed) : chance_(seed) {}
  // The first inputs: configuration and nodes.
  [[nodiscard]] std::vector<Input> opening();
  // What happens next, given what the cluster looks like. Moves the time on.
  [[nodiscard]] Input next(const Cluster& cluster, bool pass_due);
  [[nodiscard]] Instant now() const { return now_; }
  // Could the last input have made the head's start later (nodes, limits, order)?
  [[nodiscard]] bool disturbing() const { return disturbing_; }

 private:
  [[nodiscard]] NodeInventory inventory(std::uint32_t number, std::uint32_t boot);
  [[nodiscard]] Input wish(const Cluster& cluster);
  [[nodiscard]] Submit submit(const Cluster& cluster);
  Input about_document(const Cluster& cluster);
  [[nodiscard]] PodSelector selector();
  void add_terms(Request& request);
  [[nodiscard]] Input about_job(const Cluster& cluster);
  [[nodiscard]] Input about_node(const Cluster& cluster);
  [[nodiscard]] StepRequest step_request();
  [[nodiscard]] Input about_step(const Cluster& cluster);
  [[nodiscard]] Input report(const Cluster& cluster);
  [[nodiscard]] const Job* some_job(const Cluster& cluster);
  [[nodiscard]] std::uint32_t up_to(std::uint32_t n) { return static_cast<std::uint32_t>(chance_.below(n + 1ULL)); }

  Random chance_;
  Instant now_{std::chrono::hours(24 * 365 * 30)};
  std::vector<std::uint32_t> boots_;
  std::uint32_t keys_ = 0;
  bool disturbing_ = false;
};

}  // namespace drover::property
