#include "engine/standing.h"

#include <algorithm>

#include "base/text.h"

namespace drover::engine {
namespace {

Reason held(const Job& job) {
  switch (job.hold) {
    case Hold::none: return Reason::none;
    case Hold::user: return Reason::held_by_user;
    case Hold::admin: return Reason::held_by_admin;
    case Hold::requeued:
      return job.reason == Reason::launch_failed_held ? Reason::launch_failed_held : Reason::requeued_held;
  }
  return Reason::none;
}

Reason refused_by(const Partition& partition, const Job& job, const Request& request) {
  if (!partition.up) return Reason::partition_down;
  if (partition.max_time > Duration{0} && least_time(job) > partition.max_time) return Reason::partition_time_limit;
  const std::uint32_t most = request.max_nodes;
  if (partition.max_nodes > 0 && request.min_nodes > partition.max_nodes) return Reason::partition_node_limit;
  if (partition.min_nodes > 0 && most > 0 && most < partition.min_nodes) return Reason::partition_node_limit;
  return Reason::none;
}

// When a dependency may be met by time alone: after:job+minutes.
Instant dependency_alarm(const Cluster& cluster, const Dependency& dependency) {
  Instant first{};
  for (const DependencyTerm& term : dependency.terms) {
    const Job* other = cluster.job(term.job);
    if (term.kind != DependencyKind::after || term.delay == Duration{0} || other == nullptr) continue;
    if (other->run->started == Instant{}) continue;
    const Instant at = other->run->started + term.delay;
    if (first == Instant{} || at < first) first = at;
  }
  return first;
}

}  // namespace

std::vector<std::string_view> partition_names(const Cluster& cluster, Symbol partitions) {
  return split(cluster.text(partitions), ',');
}

Duration least_time(const Job& job) {
  if (job.min_limit > Duration{0}) return job.min_limit;
  return job.limit > Duration{0} ? job.limit : Duration::max();
}

Standing standing_of(const Cluster& cluster, const Job& job, std::uint32_t active) {
  Standing standing;
  if (job.phase != Phase::waiting) return standing;
  if (job.deadline != Instant{}) {
    const Duration least = least_time(job);
    standing.alarm = least == Duration::max() ? job.deadline : job.deadline - least;
  }
  const auto sooner = [&](Instant at) {
    if (at != Instant{} && (standing.alarm == Instant{} || at < standing.alarm)) standing.alarm = at;
  };
  if (job.hold != Hold::none) {
    standing.reason = held(job);
    return standing;
  }
  if (job.dependency) {
    standing.reason = job.dependency->never ? Reason::dependency_never : Reason::dependency;
    sooner(dependency_alarm(cluster, *job.dependency));
    return standing;
  }
  if (job.eligible == Instant{}) {
    standing.reason = Reason::begin_time;
    sooner(job.begin);
    return standing;
  }
  standing.eligible = true;
  if (job.array_info && job.array_info->throttle > 0 && active >= job.array_info->throttle) {
    standing.reason = Reason::array_limit;
    return standing;
  }
  const Request& request = cluster.request(job);
  const auto names = partition_names(cluster, job.partitions);
  for (std::size_t i = 0; i < names.size() && i < 32; ++i) {
    const Partition* partition = cluster.partition(names[i]);
    const Reason reason = partition == nullptr ? Reason::partition_down : refused_by(*partition, job, request);
    if (reason == Reason::none) {
      standing.partitions |= 1U << i;
      standing.tier = std::max(standing.tier, std::int64_t{partition->tier});
    } else if (standing.reason == Reason::none) {
      standing.reason = reason;
    }
  }
  standing.queued = standing.partitions != 0;
  if (standing.queued) standing.reason = Reason::none;
  return standing;
}

}  // namespace drover::engine
