#include "engine/ahead.h"

#include <algorithm>
#include <set>

namespace drover::engine {

using policy::Room;

Instant next_minute(Instant now) {
  return Instant(std::chrono::floor<minutes>(now.time_since_epoch())) + minutes(1);
}

namespace {

// Gives back what the release holds, into the rooms of `then`. Returns the nodes concerned.
void let_go(const Cluster& cluster, const Rooms& rooms, const Release& release, Overlay& then,
            std::set<NodeId>& changed) {
  for (const NodeShare& share : release.placement->shares) {
    if (release.job != nullptr && !release.job->holds(share.node)) continue;
    const auto room = then.try_emplace(share.node, rooms.at(share.node)).first;
    policy::give(room->second, cluster.node(share.node), share, release.placement->exclusive);
    changed.insert(share.node);
  }
}

std::optional<Reserve> at_instant(const Cluster& cluster, const Rooms& rooms, const Demand& demand,
                                  const Tally& view, const Overlay& then, Instant at) {
  const auto parts = demand.choose_in(view);
  if (!parts) return std::nullopt;
  Reserve reserve{.job = {}, .start = at, .partition = demand.partition(),
                  .placement = {.shares = {}, .exclusive = demand.need().request.exclusive}};
  for (const policy::Part& part : *parts) {
    const auto room = then.find(part.node);
    reserve.placement.shares.push_back(
        demand.share(cluster, part, room == then.end() ? rooms.at(part.node) : room->second, &rooms.at(part.node)));
  }
  return reserve;
}

}  // namespace

std::optional<Reserve> look_ahead(const Cluster& cluster, const Rooms& rooms, std::vector<Demand>& demands,
                                  const std::function<std::optional<Release>()>& next, Instant now, Overlay& then) {
  std::vector<Tally> views;
  for (Demand& demand : demands) views.push_back(demand.view(cluster, rooms));
  then.clear();
  const Instant soonest = next_minute(now);
  std::vector<Release> overdue;
  std::optional<Release> release = next();
  for (; release && release->at <= now; release = next()) overdue.push_back(*release);
  while (release || !overdue.empty()) {
    const bool late = !overdue.empty() && (!release || soonest <= release->at);
    const Instant at = late ? soonest : release->at;
    std::set<NodeId> changed;
    if (late) {
      for (const Release& r : overdue) let_go(cluster, rooms, r, then, changed);
      overdue.clear();
    }
    for (; release && release->at == at; release = next()) let_go(cluster, rooms, *release, then, changed);
    for (std::size_t d = 0; d < demands.size(); ++d) {
      for (const NodeId node : changed) demands[d].revise(views[d], cluster, node, then.at(node));
      if (auto reserve = at_instant(cluster, rooms, demands[d], views[d], then, at)) return reserve;
    }
  }
  return std::nullopt;
}

Overlay keep_for(const Cluster& cluster, const Rooms& rooms, const Placement& placement, const Overlay& then) {
  Overlay kept;
  for (const NodeShare& share : placement.shares) {
    const auto later = then.find(share.node);
    const Room& at_start = later == then.end() ? rooms.at(share.node) : later->second;
    Room room = rooms.at(share.node);
    policy::take(room, cluster.node(share.node), share, placement.exclusive);
    room.exclusive = rooms.at(share.node).exclusive;
    room.memory = std::min(rooms.at(share.node).memory, at_start.memory - share.memory);
    if (placement.exclusive) room.open = false;  // nobody may be left there at that instant
    kept.emplace(share.node, std::move(room));
  }
  return kept;
}

}  // namespace drover::engine
