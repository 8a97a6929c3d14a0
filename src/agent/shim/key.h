// Names of what runs on a node: "17.1" is a job's attempt with its script, "17.1.0" one step of it,
// "17.1-0-3" the fourth run of its pod's first container.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "agent/cgroup/cgroup.h"
#include "base/text.h"

namespace drover::agent {

struct PartKey {
  std::string job;    // "17.1"
  std::string group;  // "s0", of its cgroup in the job's
};
// Nothing when it names no step.
[[nodiscard]] inline std::optional<PartKey> part_of(const std::string& key) {
  if (std::count(key.begin(), key.end(), '.') != 2) return std::nullopt;
  const std::size_t dot = key.rfind('.');
  return PartKey{.job = key.substr(0, dot), .group = "s" + key.substr(dot + 1)};
}
// Of a step or a container, the job that it belongs to; of a job, itself.
[[nodiscard]] inline std::string job_of(const std::string& key) {
  const auto part = part_of(key);
  return part ? part->job : key.substr(0, key.find('-'));
}
struct ContainerKey {
  std::string pod;  // "17.1"
  std::size_t index = 0;
  std::uint32_t run = 0;
};
// Nothing when it names no container.
[[nodiscard]] inline std::optional<ContainerKey> container_of(const std::string& key) {
  const auto parts = split(key, '-');
  if (parts.size() != 3) return std::nullopt;
  const auto index = parse_uint(parts[1]);
  const auto run = parse_uint(parts[2]);
  if (!index || !run || *run > 0xFFFFFFFF) return std::nullopt;
  return ContainerKey{.pod = std::string(parts[0]), .index = *index, .run = static_cast<std::uint32_t>(*run)};
}
// The group that an attempt's claim names ("12-7", or "17.1/s0" of a step).
[[nodiscard]] inline std::unique_ptr<Cgroup> open_group(const CgroupTree& tree, const std::string& key,
                                                        const std::string& claimed) {
  const std::size_t slash = claimed.find('/');
  if (slash == std::string::npos) return tree.open(claimed.empty() ? key : claimed);
  const std::string job = claimed.substr(0, slash);
  return tree.open_step({.name = job, .has_owner = job != job_of(key)}, claimed.substr(slash + 1));
}

}  // namespace drover::agent
