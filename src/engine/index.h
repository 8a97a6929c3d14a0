// What is derived from the cluster for speed: rooms, classes of waiting jobs, ends of running ones,
// alarms. Kept up by what facts touch; a rebuild from the cluster alone gives the same decisions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/id_table.h"
#include "base/rare.h"
#include "domain/cluster.h"
#include "domain/facts.h"
#include "engine/class_list.h"
#include "engine/demand.h"
#include "engine/rooms.h"
#include "engine/standing.h"

namespace drover::engine {

// Jobs that stand or fall together: the same shape, in the same partitions, avoiding the same nodes, meant by
// the same terms of others and of their own.
struct ClassKey {
  ShapeId shape;
  Symbol partitions;
  std::uint32_t mask = 0;  // those of the partitions that would take it
  std::vector<NodeId> avoid;
  std::vector<std::uint32_t> met;  // meant_by (domain/pod_terms.h)
  friend auto operator<=>(const ClassKey&, const ClassKey&) = default;
};

struct JobClass {
  ClassList jobs;
  std::vector<Demand> demands;       // one for each partition, in the order of the list
  Reason reason = Reason::priority;  // of all its jobs but the head of the queue
};

class Index {
 public:
  explicit Index(const Cluster& cluster) { rebuild(cluster); }
  void rebuild(const Cluster& cluster);
  // Follows facts that were just applied. Returns whether a pass could decide anything new.
  bool follow(const Cluster& cluster, const Facts& facts);

  [[nodiscard]] Rooms& rooms() { return rooms_; }
  [[nodiscard]] std::map<ClassKey, JobClass>& classes() { return classes_; }
  [[nodiscard]] JobClass* class_of(JobId job);
  [[nodiscard]] std::uint32_t active_of(JobId array) const;
  [[nodiscard]] const std::set<std::pair<Instant, JobId>>& ends() const { return ends_; }
  [[nodiscard]] const std::set<std::pair<Instant, JobId>>& alarms() const { return alarms_; }
  // Queued jobs whose noted reason isn't the one of their class.
  [[nodiscard]] const std::set<JobId>& unexplained() const { return unexplained_; }
  void set_reason(const Cluster& cluster, JobClass& jobs, Reason reason);
  void set_head(const Cluster& cluster, JobId head);
  [[nodiscard]] JobId head() const { return head_; }
  [[nodiscard]] Reason reason_for(const Job& job);
  void reconsider(const Cluster& cluster, JobId job);  // after its reason was noted
  [[nodiscard]] std::size_t queued() const { return queued_; }
  // Is there a queued job that another's start may let in?
  [[nodiscard]] bool looks_around() const;
  // Waiting jobs with an unmet singleton, by owner and name.
  using NameKey = std::pair<std::uint32_t, std::string>;
  [[nodiscard]] const std::map<NameKey, std::set<JobId>>& singletons() const { return singletons_; }

 private:
  // What a job lacks while it simply waits in its class.
  struct Elsewhere {
    Instant alarm;
    Instant end;    // in ends_
    JobId array;    // counted as active there
    std::optional<NameKey> singleton;
    friend bool operator==(const Elsewhere&, const Elsewhere&) = default;
  };
  struct Entry {
    JobClass* in = nullptr;  // in its list, under `key`
    policy::OrderKey key;
    Rare<Elsewhere> also;
    [[nodiscard]] bool blank() const { return in == nullptr && also.missing(); }
  };
  void touch(const Cluster& cluster, JobId job);
  void touch_first(const Cluster& cluster, const Job& member);
  void touch_array(const Cluster& cluster, JobId array);
  void queue(const Cluster& cluster, Entry& entry, const Job& job, const Standing& standing);
  void unqueue(Entry& entry);
  void set_alarm(Entry& entry, JobId job, Instant at);
  void set_end(Entry& entry, JobId job, Instant at);
  void set_active(const Cluster& cluster, Entry& entry, JobId array);
  void set_singleton(Entry& entry, JobId id, const Job* job);
  JobClass& class_for(const Cluster& cluster, const Job& job, const Standing& standing);
  void drop_idle_classes();
  void touch_meant(const Cluster& cluster);

  Rooms rooms_;
  IdTable<JobId, Entry> entries_;
  std::map<ClassKey, JobClass> classes_;
  std::set<std::pair<Instant, JobId>> ends_;
  std::set<std::pair<Instant, JobId>> alarms_;
  std::map<JobId, std::uint32_t> active_;  // by array
  std::set<JobId> unexplained_;
  std::map<NameKey, std::set<JobId>> singletons_;
  std::set<JobId> pending_arrays_;  // whose number of active tasks changed in this step
  JobId head_;
  std::size_t queued_ = 0;
  bool queue_changed_ = false;
  std::size_t apart_ = 0;  // how many of the selectors of `apart` terms the classes know
};

}  // namespace drover::engine
