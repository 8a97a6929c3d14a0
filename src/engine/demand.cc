#include "engine/demand.h"

#include <algorithm>
#include <tuple>

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

Demand::Demand(const Cluster& cluster, const Partition& partition, const Request& request, std::vector<NodeId> avoid,
               std::vector<std::uint32_t> met)
    : need_(policy::need_of(request)), partition_(partition.name) {
  need_.min_nodes = std::max(need_.min_nodes, partition.min_nodes);
  need_.max_nodes = std::max(need_.min_nodes, need_.max_nodes);
  if (partition.max_nodes > 0) {
    need_.max_nodes = std::max(need_.min_nodes, std::min(need_.max_nodes, partition.max_nodes));
  }
  const std::vector<NodeId> members = nodes_of(cluster, partition);
  if (Vicinity::needed(request, met)) vicinity_.emplace(cluster, members, request, std::move(met));
  for (const NodeId node : members) {
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

Slot Demand::slot_of(const Cluster& cluster, std::uint32_t place, const Room& room, const Match& match) const {
  const Node& node = cluster.node(nodes_[place]);
  Slot slot{.node = nodes_[place], .ways = match.ways, .wanted = now_.slots[place].wanted};
  slot.units = policy::units_in(need_, match, node, room, need_.most_units());
  if (slot.units > 0) slot.rank = policy::rank_of(need_, match, node, room);
  return slot;
}

Slot Demand::slot_for(const Cluster& cluster, std::uint32_t place, const Room& room) const {
  if (lets(nodes_[place])) return slot_of(cluster, place, room, matches_[place]);
  return {.node = nodes_[place], .ways = matches_[place].ways, .wanted = now_.slots[place].wanted};
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
  const auto look = [&](NodeId node) {
    if (vicinity_) {
      vicinity_->see(cluster, node, rooms.planned(node), rooms.description(node));
      if (need_.max_nodes > 1) failed_ = false;  // its members may find another way between others
    }
    const std::uint32_t place = place_of(node);
    if (place != kNone) update(cluster, rooms, place);
  };
  if (!rooms.since(mark_, look)) {
    for (const Node& node : cluster.nodes()) look(node.id);
  }
  if (!vicinity_) return;
  for (const NodeId node : vicinity_->settle()) {
    const std::uint32_t place = place_of(node);
    if (place != kNone) update(cluster, rooms, place);
  }
}

bool Demand::stuck(const Cluster& cluster, const Rooms& rooms) {
  refresh(cluster, rooms);
  return failed_ || !may_do(now_);
}

std::optional<std::vector<Part>> Demand::choose_in(const Tally& view) const {
  if (!may_do(view)) return std::nullopt;
  return vicinity_ && need_.max_nodes > 1 ? choose_one_by_one(view) : policy::choose(need_, view.slots);
}

// Each member sees those before it. The best node that is let in comes next, so this may miss a way that there is.
std::optional<std::vector<Part>> Demand::choose_one_by_one(const Tally& view) const {
  Vicinity around = *vicinity_;
  std::vector<Slot> left = view.slots;
  std::vector<Slot> chosen;
  while (chosen.size() < need_.max_nodes) {
    around.settle();
    Slot* best = nullptr;
    for (Slot& slot : left) {
      if (slot.units == 0 || !around.lets(slot.node)) continue;
      const auto key = [](const Slot& s) { return std::tuple(!s.wanted, s.rank, s.node); };
      if (best == nullptr || key(slot) < key(*best)) best = &slot;
    }
    if (best == nullptr) break;
    around.add(best->node);
    chosen.push_back(*best);
    best->units = 0;
  }
  std::ranges::sort(chosen, {}, &Slot::node);
  return policy::choose(need_, chosen);
}

bool Demand::kept_out(const Cluster& cluster, const Rooms& rooms) {
  if (!vicinity_ || need_.max_nodes > 1) return false;
  refresh(cluster, rooms);
  return std::ranges::none_of(nodes_, [&](NodeId node) {
    const Match& match = matches_[place_of(node)];
    return match.ok && match.tolerated && rooms.at(node).open && vicinity_->lets(node);
  });
}

std::optional<std::vector<Part>> Demand::choose(const Cluster& cluster, const Rooms& rooms) {
  if (stuck(cluster, rooms)) return std::nullopt;
  auto parts = choose_in(now_);
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
      const Slot idle = slot_of(cluster, place, policy::idle_room_of(cluster.node(nodes_[place])), untainted);
      replace(all, place, idle);
      if (rooms.at(nodes_[place]).open && matches_[place].tolerated) replace(open, place, idle);
    }
    // Other pods come and go, as jobs do.
    could_all_ = may_do(all) && policy::choose(need_, all.slots);
    could_open_ = could_all_ && may_do(open) && policy::choose(need_, open.slots);
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
