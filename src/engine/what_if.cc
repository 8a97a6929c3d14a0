#include "engine/what_if.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "domain/decide.h"
#include "engine/ahead.h"
#include "engine/demand.h"
#include "engine/feasible.h"
#include "engine/standing.h"

namespace drover::engine {
namespace {

std::vector<Release> running(const Cluster& cluster) {
  std::vector<Release> releases;
  cluster.jobs().each([&](const Job& job) {
    if (!job.active() || job.limit == Duration{0}) return;
    releases.push_back({.at = job.run->started + job.limit, .placement = job.run->placement.get(), .job = &job});
  });
  std::ranges::stable_sort(releases, {}, &Release::at);
  return releases;
}

// The reservations that the job would be in the way of, were it to run so long from now.
Overlay reserved_rooms(const Cluster& cluster, const Rooms& rooms, Duration time, Instant now) {
  Overlay kept;
  for (const auto& [job, reservation] : cluster.reservations()) {
    if (time != Duration::max() && now + time <= reservation.start) continue;
    for (auto& [node, room] : keep_for(cluster, rooms, reservation.placement, {})) kept[node] = room;
  }
  return kept;
}

}  // namespace

std::variant<WouldStart, Refusal> what_if_submitted(const Cluster& cluster, const Caller& caller, const Submit& wish,
                                                    Instant now) {
  const Feasible feasible = [](const Cluster& c, const Partition& p, const Request& r) { return why_never(c, p, r); };
  auto valid = validate_submit(cluster, caller, wish, feasible, now);
  if (auto* refusal = std::get_if<Refusal>(&valid)) return std::move(*refusal);
  const Submit& submit = std::get_if<JobSubmitted>(&valid)->submit;
  Rooms rooms;
  rooms.rebuild(cluster);
  std::vector<Demand> demands;
  for (const std::string_view name : split(submit.partitions, ',')) {
    demands.emplace_back(cluster, *cluster.partition(name), submit.request, std::vector<NodeId>{});
  }
  const Duration time = submit.limit && *submit.limit > Duration{0} ? *submit.limit : Duration::max();
  const Overlay kept = reserved_rooms(cluster, rooms, time, now);
  const Instant soonest = std::max(now, submit.begin);
  for (Demand& demand : demands) {
    if (soonest > now) break;
    if (const auto parts = demand.choose(cluster, rooms, kept)) {
      return WouldStart{.at = now, .placement = demand.placement(cluster, *parts, rooms, kept),
                        .partition = demand.partition()};
    }
  }
  Overlay then;
  const std::vector<Release> releases = running(cluster);
  std::size_t at = 0;
  const auto later = look_ahead(cluster, rooms, demands, [&]() -> std::optional<Release> {
    return at < releases.size() ? std::optional(releases[at++]) : std::nullopt;
  }, soonest, then);
  if (!later) return WouldStart{.at = {}, .placement = {}, .partition = demands.front().partition()};
  return WouldStart{.at = later->start, .placement = later->placement, .partition = later->partition};
}

}  // namespace drover::engine
