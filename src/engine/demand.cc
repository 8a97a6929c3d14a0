#include "engine/demand.h"

#include <algorithm>

#include "policy/pick.h"

namespace drover::engine {

using policy::Match;
using policy::Need;
using policy::Part;
using policy::Room;
using policy::Slot;

std::vector<NodeId> nodes_of(const Cluster& cluster, const Partition& partition) {
  std::vector<NodeId> nodes;
  if (partition.nodes.empty()) {
    for (const Node& node : cluster.nodes()) nodes.push_back(node.id);
    return nodes;
  }
  for (const std::string& name : partition.nodes) {
    if (const Node* node = cluster.node(name)) nodes.push_back(node->id);
  }
  std::ranges::sort(nodes);
  const auto [first, last] = std::ranges::unique(nodes);
  nodes.erase(first, last);
  return nodes;
}

Demand::Demand(const Cluster& cluster, const Partition& partition, const Request& request, std::vector<NodeId> avoid)
    : need_(policy::need_of(request)), partition_(partition.name) {
  need_.min_nodes = std::max(need_.min_nodes, partition.min_nodes);
  need_.max_nodes = std::max(need_.min_nodes, need_.max_nodes);
  if (partition.max_nodes > 0) {
    need_.max_nodes = std::max(need_.min_nodes, std::min(need_.max_nodes, partition.max_nodes));
  }
  for (const NodeId node : nodes_of(cluster, partition)) {
    if (!std::ranges::binary_search(avoid, node)) nodes_.push_back(node);
  }
  places_.assign(cluster.nodes().size(), kNone);
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) places_[nodes_[i].value() - 1] = i;
  matches_.resize(nodes_.size());
  described_.resize(nodes_.size());
  now_.slots.resize(nodes_.size());
}

void Demand::describe(const Cluster& cluster, const Rooms& rooms, std::uint32_t place) {
  const Node& node = cluster.node(nodes_[place]);
  matches_[place] = policy::match_of(need_, node);
  described_[place] = rooms.description(nodes_[place]);
  failed_ = false;
  now_.slots[place].node = nodes_[place];
  const auto& named = need_.request.include_nodes;
  now_.slots[place].wanted = std::ranges::find(named, node.name()) != named.end();
}

Slot Demand::slot_for(const Cluster& cluster, std::uint32_t place, const Room& room, const Match& match) const {
  const Node& node = cluster.node(nodes_[place]);
  Slot slot{.node = nodes_[place], .ways = match.ways, .wanted = now_.slots[place].wanted};
  slot.units = policy::units_in(need_, match, node, room, need_.most_units());
  if (slot.units > 0) slot.rank = policy::rank_of(need_, match, node, room);
  return slot;
}

void Demand::replace(Tally& view, std::uint32_t place, Slot slot) {
  Slot& held = view.slots[place];
  view.units += slot.units;
  view.units -= held.units;
  view.usable += slot.units > 0 ? 1 : 0;
  view.usable -= held.units > 0 ? 1 : 0;
  held = slot;
}

void Demand::update(const Cluster& cluster, const Rooms& rooms, std::uint32_t place) {
  if (described_[place] != rooms.description(nodes_[place])) describe(cluster, rooms, place);
  const std::uint32_t before = now_.slots[place].units;
  replace(now_, place, slot_for(cluster, place, rooms.at(nodes_[place])));
  if (now_.slots[place].units > before) failed_ = false;
}

void Demand::refresh(const Cluster& cluster, const Rooms& rooms) {
  const bool known = rooms.since(mark_, [&](NodeId node) {
    const std::uint32_t place = place_of(node);
    if (place != kNone) update(cluster, rooms, place);
  });
  if (known) return;
  for (std::uint32_t place = 0; place < nodes_.size(); ++place) update(cluster, rooms, place);
}

bool Demand::stuck(const Cluster& cluster, const Rooms& rooms) {
  refresh(cluster, rooms);
  return failed_ || !may_do(now_);
}

std::optional<std::vector<Part>> Demand::choose_in(const Tally& view) const {
  return may_do(view) ? policy::choose(need_, view.slots) : std::nullopt;
}

std::optional<std::vector<Part>> Demand::choose(const Cluster& cluster, const Rooms& rooms) {
  if (stuck(cluster, rooms)) return std::nullopt;
  auto parts = policy::choose(need_, now_.slots);
  failed_ = !parts;
  return parts;
}

std::optional<std::vector<Part>> Demand::choose(const Cluster& cluster, const Rooms& rooms, const Overlay& overlay) {
  if (stuck(cluster, rooms)) return std::nullopt;
  bool touched = false;
  for (const auto& [node, room] : overlay) touched = touched || place_of(node) != kNone;
  if (!touched) return choose(cluster, rooms);
  Tally view = now_;
  for (const auto& [node, room] : overlay) revise(view, cluster, node, room);
  return choose_in(view);
}

bool Demand::could_start(const Cluster& cluster, const Rooms& rooms, bool open_only) {
  refresh(cluster, rooms);
  if (could_layout_ != rooms.layout()) {
    Tally all{.slots = std::vector<Slot>(nodes_.size())};
    Tally open = all;
    for (std::uint32_t place = 0; place < nodes_.size(); ++place) {
      Match untainted = matches_[place];
      untainted.tolerated = true;
      const Slot idle = slot_for(cluster, place, policy::idle_room_of(cluster.node(nodes_[place])), untainted);
      replace(all, place, idle);
      if (rooms.at(nodes_[place]).open && matches_[place].tolerated) replace(open, place, idle);
    }
    could_all_ = choose_in(all).has_value();
    could_open_ = could_all_ && choose_in(open).has_value();
    could_layout_ = rooms.layout();
  }
  return open_only ? could_open_ : could_all_;
}

Tally Demand::view(const Cluster& cluster, const Rooms& rooms) {
  refresh(cluster, rooms);
  return now_;
}

void Demand::revise(Tally& view, const Cluster& cluster, NodeId node, const Room& room) const {
  const std::uint32_t place = place_of(node);
  if (place != kNone) replace(view, place, slot_for(cluster, place, room));
}

NodeShare Demand::share(const Cluster& cluster, const Part& part, const Room& room, const Room* spare) const {
  const std::uint32_t place = place_of(part.node);
  return policy::pick_share(need_, matches_[place], cluster.node(part.node), room, part.units, part.tasks, spare);
}

Placement Demand::placement(const Cluster& cluster, const std::vector<Part>& parts, const Rooms& rooms,
                            const Overlay& overlay) const {
  Placement placement{.shares = {}, .exclusive = need_.request.exclusive};
  for (const Part& part : parts) {
    const auto kept = overlay.find(part.node);
    const Room& room = kept == overlay.end() ? rooms.at(part.node) : kept->second;
    placement.shares.push_back(share(cluster, part, room, nullptr));
  }
  return placement;
}

}  // namespace drover::engine
