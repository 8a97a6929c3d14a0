// The free room of every node, kept up by the facts, with a log of which nodes changed so that what
// is derived from it follows without searching.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "domain/cluster.h"
#include "policy/room.h"

namespace drover::engine {

class Rooms {
 public:
  void rebuild(const Cluster& cluster);
  void touch(const Node& node);       // what is granted, or whether it is open, may have changed
  void redescribe(const Node& node);  // its inventory has changed

  [[nodiscard]] const policy::Room& at(NodeId node) const { return rooms_[node.value() - 1]; }
  [[nodiscard]] std::size_t size() const { return rooms_.size(); }
  [[nodiscard]] std::uint64_t description(NodeId node) const { return descriptions_[node.value() - 1]; }
  // Rises when a node opens, closes or is described anew.
  [[nodiscard]] std::uint64_t layout() const { return layout_; }

  void set(NodeId node, policy::Room room);

  // Pods that a plan has put on a node, beside those that hold it: terms of others see them there.
  [[nodiscard]] std::span<const JobId> planned(NodeId node) const;
  void plan(NodeId node, JobId job) { planned_[node].push_back(job); }
  void forget_plans() { planned_.clear(); }

  // Calls visit(NodeId) once for each node changed since `mark`, and moves the mark on.
  // False: too much has changed, look at all of them.
  struct Mark {
    std::uint64_t generation = 0;
    std::size_t place = 0;
  };
  template <class Visit>
  bool since(Mark& mark, Visit visit) const {
    const bool known = mark.generation == generation_;
    if (known) {
      for (std::size_t i = mark.place; i < log_.size(); ++i) {
        if (latest_[log_[i].value() - 1] == i) visit(log_[i]);
      }
    }
    mark = {.generation = generation_, .place = log_.size()};
    return known;
  }

 private:
  void note(NodeId node);

  std::vector<policy::Room> rooms_;
  std::map<NodeId, std::vector<JobId>> planned_;
  std::vector<std::uint64_t> descriptions_;
  std::vector<NodeId> log_;
  std::vector<std::size_t> latest_;  // by node: the place of its last entry in the log
  std::uint64_t generation_ = 1;
  std::uint64_t layout_ = 1;
};

// What-if: nodes taken in its scope are as before when it ends.
class WhatIf {
 public:
  WhatIf(Rooms& rooms, const Cluster& cluster) : rooms_(rooms), cluster_(cluster) {}
  WhatIf(const WhatIf&) = delete;
  WhatIf& operator=(const WhatIf&) = delete;
  ~WhatIf();
  void take(JobId job, const Placement& placement);

 private:
  Rooms& rooms_;
  const Cluster& cluster_;
  std::vector<std::pair<NodeId, policy::Room>> before_;
};

}  // namespace drover::engine
