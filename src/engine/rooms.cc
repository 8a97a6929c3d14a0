#include "engine/rooms.h"

namespace drover::engine {

void Rooms::rebuild(const Cluster& cluster) {
  rooms_.clear();
  for (const Node& node : cluster.nodes()) rooms_.push_back(policy::room_of(node));
  descriptions_.resize(rooms_.size());
  latest_.resize(rooms_.size());
  for (std::uint64_t& d : descriptions_) ++d;
  log_.clear();
  ++generation_;
  ++layout_;
}

void Rooms::touch(const Node& node) {
  policy::Room room = policy::room_of(node);
  if (room.open != at(node.id).open) ++layout_;
  set(node.id, std::move(room));
}

void Rooms::redescribe(const Node& node) {
  if (node.id.value() > rooms_.size()) {
    rooms_.resize(node.id.value());
    descriptions_.resize(node.id.value());
    latest_.resize(node.id.value());
  }
  ++descriptions_[node.id.value() - 1];
  ++layout_;
  set(node.id, policy::room_of(node));
}

void Rooms::set(NodeId node, policy::Room room) {
  rooms_[node.value() - 1] = std::move(room);
  note(node);
}

void Rooms::note(NodeId node) {
  if (log_.size() > 4 * rooms_.size() + 4096) {
    log_.clear();
    ++generation_;
  }
  latest_[node.value() - 1] = log_.size();
  log_.push_back(node);
}

std::span<const JobId> Rooms::planned(NodeId node) const {
  const auto found = planned_.find(node);
  return found == planned_.end() ? std::span<const JobId>{} : found->second;
}

WhatIf::~WhatIf() {
  rooms_.forget_plans();
  while (!before_.empty()) {
    rooms_.set(before_.back().first, std::move(before_.back().second));
    before_.pop_back();
  }
}

void WhatIf::take(JobId job, const Placement& placement) {
  const bool seen = cluster_.selectors().size() > 0 && cluster_.pod_identity(job).key != nullptr;
  for (const NodeShare& share : placement.shares) {
    if (seen) rooms_.plan(share.node, job);
    policy::Room room = rooms_.at(share.node);
    before_.emplace_back(share.node, room);
    policy::take(room, cluster_.node(share.node), share, placement.exclusive);
    rooms_.set(share.node, std::move(room));
  }
}

}  // namespace drover::engine
