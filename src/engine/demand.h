// One request shape in one partition: how much of it each node could take now. It follows the nodes
// that changed, so that asking "can this start?" again costs nothing when nothing has.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "domain/cluster.h"
#include "engine/rooms.h"
#include "engine/vicinity.h"
#include "policy/choose.h"
#include "policy/fit.h"
#include "policy/need.h"

namespace drover::engine {

// Nodes as they would be seen by a job that is not to be in the way of a reservation.
using Overlay = std::map<NodeId, policy::Room>;

// The slots of a demand, some of them perhaps for other rooms than those of now, and what they come to.
struct Tally {
  std::vector<policy::Slot> slots;
  std::uint64_t units = 0;
  std::uint32_t usable = 0;  // nodes that could take any
};

class Demand {
 public:
  // `avoid`: nodes not to be used, in rising order. `met`: as of Vicinity.
  Demand(const Cluster& cluster, const Partition& partition, const Request& request, std::vector<NodeId> avoid,
         std::vector<std::uint32_t> met = {});

  [[nodiscard]] const policy::Need& need() const { return need_; }
  [[nodiscard]] const std::string& partition() const { return partition_; }
  [[nodiscard]] std::span<const NodeId> nodes() const { return nodes_; }

  // Where it could start now; with an overlay, without touching what that keeps.
  [[nodiscard]] std::optional<std::vector<policy::Part>> choose(const Cluster& cluster, const Rooms& rooms);
  [[nodiscard]] std::optional<std::vector<policy::Part>> choose(const Cluster& cluster, const Rooms& rooms,
                                                               const Overlay& overlay);
  // True: it can't start now, and no search is needed to tell.
  [[nodiscard]] bool stuck(const Cluster& cluster, const Rooms& rooms);
  // Could it ever start on the nodes that are there (open only: on those that are open), were they idle?
  [[nodiscard]] bool could_start(const Cluster& cluster, const Rooms& rooms, bool open_only);
  // Do terms about other pods leave too few nodes, whatever is free there?
  [[nodiscard]] bool kept_out(const Cluster& cluster, const Rooms& rooms);
  [[nodiscard]] bool looks_around() const { return vicinity_.has_value(); }
  // The slots as they are now, and one of them for another room: for looking ahead.
  [[nodiscard]] Tally view(const Cluster& cluster, const Rooms& rooms);
  // Sets the slot of a node, when it is one of this demand's.
  void revise(Tally& view, const Cluster& cluster, NodeId node, const policy::Room& room) const;
  [[nodiscard]] std::optional<std::vector<policy::Part>> choose_in(const Tally& view) const;
  [[nodiscard]] Placement placement(const Cluster& cluster, const std::vector<policy::Part>& parts, const Rooms& rooms,
                                    const Overlay& overlay) const;
  [[nodiscard]] NodeShare share(const Cluster& cluster, const policy::Part& part, const policy::Room& room,
                                const policy::Room* spare) const;

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  void refresh(const Cluster& cluster, const Rooms& rooms);
  void describe(const Cluster& cluster, const Rooms& rooms, std::uint32_t place);
  void update(const Cluster& cluster, const Rooms& rooms, std::uint32_t place);
  [[nodiscard]] std::uint32_t place_of(NodeId node) const {
    return node.value() <= places_.size() ? places_[node.value() - 1] : kNone;
  }
  // Cheap and necessary: false means that a choice would fail.
  [[nodiscard]] bool may_do(const Tally& view) const {
    return view.usable >= need_.min_nodes && view.units >= need_.all_units();
  }
  // Of a gang the terms also speak of its own members, so that no node can be ruled out by itself.
  [[nodiscard]] bool lets(NodeId node) const {
    return !vicinity_ || need_.max_nodes > 1 || vicinity_->lets(node);
  }
  [[nodiscard]] std::optional<std::vector<policy::Part>> choose_one_by_one(const Tally& view) const;
  static void replace(Tally& view, std::uint32_t place, policy::Slot slot);
  [[nodiscard]] policy::Slot slot_for(const Cluster& cluster, std::uint32_t place, const policy::Room& room) const;
  // Whatever terms about other pods say.
  [[nodiscard]] policy::Slot slot_of(const Cluster& cluster, std::uint32_t place, const policy::Room& room,
                                     const policy::Match& match) const;

  policy::Need need_;
  std::optional<Vicinity> vicinity_;   // of a request that terms about pods speak for or against
  std::string partition_;
  std::vector<NodeId> nodes_;          // of the partition, without those to avoid, in rising order
  std::vector<std::uint32_t> places_;  // by node number: place in nodes_, or kNone
  std::vector<policy::Match> matches_;
  std::vector<std::uint64_t> described_;
  Tally now_;
  Rooms::Mark mark_;
  bool failed_ = false;  // the last choice, and no slot has grown since
  std::uint64_t could_layout_ = 0;
  bool could_open_ = false;
  bool could_all_ = false;
};

// The nodes of a partition, in rising order.
[[nodiscard]] std::vector<NodeId> nodes_of(const Cluster& cluster, const Partition& partition);

}  // namespace drover::engine
