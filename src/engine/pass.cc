#include "engine/pass.h"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>

#include "engine/ahead.h"

namespace drover::engine {
namespace {

constexpr int kLooksAhead = 8;  // classes that are tried for the reservation

class Pass {
 public:
  Pass(const Cluster& cluster, Index& index, Instant now, std::uint32_t budget)
      : cluster_(cluster), index_(index), now_(now), budget_(budget), what_if_(index.rooms(), cluster) {}

  Plan run() {
    for (auto& [key, jobs] : index_.classes()) {
      if (stuck(jobs)) stuck_.push_back(first_of(jobs));
      else push(jobs, nullptr, Duration::max());
    }
    std::make_heap(stuck_.begin(), stuck_.end());
    while (!heap_.empty() || !stuck_.empty()) {
      if (plan_.starts.size() >= budget_) return std::move(plan_);
      if (settled() && !stuck_.empty()) explain_stuck();
      if (const auto next = take_next()) consider(*next);
    }
    index_.set_head(cluster_, head_);
    plan_.complete = true;
    return std::move(plan_);
  }

 private:
  struct Candidate {
    policy::OrderKey key;
    Duration least{0};
    JobClass* jobs = nullptr;
    Duration window{0};  // only jobs that need no more than this are still looked at in the class
    friend bool operator<(const Candidate& a, const Candidate& b) { return b.key < a.key; }  // least on top
  };

  void push(JobClass& jobs, const policy::OrderKey* after, Duration window) {
    if (const auto next = jobs.jobs.first(after, window)) {
      heap_.push({.key = next->key, .least = next->least, .jobs = &jobs, .window = window});
    }
  }
  static Candidate first_of(JobClass& jobs) {
    const auto next = jobs.jobs.first(nullptr, Duration::max());
    return {.key = next->key, .least = next->least, .jobs = &jobs, .window = Duration::max()};
  }

  // No job of the class can start in this pass: its starts only take room away.
  [[nodiscard]] bool stuck(JobClass& jobs) {
    return !jobs.jobs.empty() && std::ranges::all_of(jobs.demands, [&](Demand& demand) {
      return demand.stuck(cluster_, index_.rooms());
    });
  }

  std::optional<Candidate> take_next() {
    if (heap_.empty() && stuck_.empty()) return std::nullopt;
    Candidate next;
    if (stuck_.empty() || (!heap_.empty() && heap_.top().key < stuck_.front().key)) {
      next = heap_.top();
      heap_.pop();
    } else {
      std::pop_heap(stuck_.begin(), stuck_.end());
      next = stuck_.back();
      stuck_.pop_back();
    }
    return next;
  }

  // Nothing more is asked of the jobs that can't start: who comes first, and what is kept for whom, stands.
  [[nodiscard]] bool settled() const { return head_ && (plan_.reserve || looks_ >= kLooksAhead); }

  void explain_stuck() {
    for (const Candidate& next : stuck_) may_wait(*next.jobs);
    stuck_.clear();
  }

  // Until when the job would be there, at least.
  [[nodiscard]] bool outlasts_reservation(Duration least) const {
    return plan_.reserve && (least == Duration::max() || now_ + least > plan_.reserve->start);
  }

  void consider(const Candidate& next) {
    JobClass& jobs = *next.jobs;
    const Job& job = *cluster_.job(next.key.job);
    if (throttled(job)) return push(jobs, &next.key, next.window);
    const Duration whole = job.limit > Duration{0} ? job.limit : Duration::max();
    bool fits_now = false;  // but for the reservation
    for (Demand& demand : jobs.demands) {
      const Duration wish = std::max(next.least, std::min(whole, time_limit_of(demand)));
      if (!outlasts_reservation(wish)) {
        if (const auto parts = demand.choose(cluster_, index_.rooms())) return start(next, demand, *parts, {}, wish);
        continue;
      }
      if (const auto parts = demand.choose(cluster_, index_.rooms(), kept_)) {
        return start(next, demand, *parts, kept_, wish);
      }
      const auto parts = demand.choose(cluster_, index_.rooms());
      if (parts && !outlasts_reservation(next.least)) {  // it would do with less time
        return start(next, demand, *parts, {}, std::max(next.least, until_reservation()));
      }
      fits_now = fits_now || parts;
    }
    if (!fits_now) return blocked(jobs, job.id);
    index_.set_reason(cluster_, jobs, Reason::priority);
    push(jobs, &next.key, plan_.reserve->start - now_);
  }

  [[nodiscard]] Duration time_limit_of(const Demand& demand) const {
    const Duration limit = cluster_.partition(demand.partition())->max_time;
    return limit > Duration{0} ? limit : Duration::max();
  }
  [[nodiscard]] Duration until_reservation() const {
    return std::chrono::floor<minutes>(plan_.reserve->start - now_);
  }

  void start(const Candidate& next, const Demand& demand, const std::vector<policy::Part>& parts,
             const Overlay& overlay, Duration time) {
    const Job& job = *cluster_.job(next.key.job);
    Start start{.job = job.id, .partition = demand.partition(),
                .placement = demand.placement(cluster_, parts, index_.rooms(), overlay),
                .limit = time == Duration::max() ? Duration{0} : time};
    what_if_.take(job.id, start.placement);
    take_from_kept(start.placement, outlasts_reservation(time));
    bool more = false;  // tasks of the same record
    if (job.is_array()) {
      std::uint32_t& taken = tasks_[job.id];
      start.task = nth_task(*job.pending, taken++);
      more = taken < job.pending->count();
    }
    if (job.array) ++planned_[job.array];
    plan_.starts.push_back(std::move(start));
    index_.set_reason(cluster_, *next.jobs, Reason::priority);
    if (more) heap_.push(next);
    else push(*next.jobs, &next.key, next.window);
  }

  // What starts now is missing in the rooms beside the reservation too; its memory only until it ends.
  void take_from_kept(const Placement& placement, bool outlasts) {
    for (const NodeShare& share : placement.shares) {
      const auto found = kept_.find(share.node);
      if (found == kept_.end()) continue;
      Bytes& later = memory_at_start_.at(share.node);
      if (outlasts) later -= share.memory;
      policy::take(found->second, cluster_.node(share.node), share, placement.exclusive);
      found->second.memory = std::min(index_.rooms().at(share.node).memory, later);
    }
  }

  [[nodiscard]] bool throttled(const Job& job) {
    if (!job.array_info || job.array_info->throttle == 0) return false;
    return index_.active_of(job.array) + planned_[job.array] >= job.array_info->throttle;
  }

  static std::uint32_t nth_task(const ArrayPending& pending, std::uint32_t n) {
    for (const TaskRange& range : pending.tasks) {
      const std::uint32_t count = (range.last - range.first) / range.step + 1;
      if (n < count) return range.first + n * range.step;
      n -= count;
    }
    return kNoTask;
  }

  // Notes why the class waits. False: for other nodes than there are.
  bool may_wait(JobClass& jobs) {
    const auto could = [&](bool open_only) {
      return std::ranges::any_of(jobs.demands,
                                 [&](Demand& d) { return d.could_start(cluster_, index_.rooms(), open_only); });
    };
    if (!could(true)) {
      const bool named = !jobs.demands.front().need().request.include_nodes.empty();
      index_.set_reason(cluster_, jobs, !could(false) ? Reason::bad_constraints
                                        : named       ? Reason::node_not_available
                                                      : Reason::nodes_down);
      return false;
    }
    // Nothing can be kept for it either: what it waits for isn't room.
    const bool kept_out = std::ranges::all_of(jobs.demands,
                                              [&](Demand& d) { return d.kept_out(cluster_, index_.rooms()); });
    index_.set_reason(cluster_, jobs, kept_out ? Reason::other_pods : Reason::priority);
    return !kept_out;
  }

  // No job of the class fits anywhere now.
  void blocked(JobClass& jobs, JobId job) {
    if (!may_wait(jobs)) return;
    if (!head_) head_ = job;
    if (plan_.reserve || looks_++ >= kLooksAhead) return;
    Overlay then;
    plan_.reserve = look_ahead(cluster_, index_.rooms(), jobs.demands, releases(), now_, then);
    if (!plan_.reserve) return;
    plan_.reserve->job = job;
    kept_ = keep_for(cluster_, index_.rooms(), plan_.reserve->placement, then);
    for (const NodeShare& share : plan_.reserve->placement.shares) {
      const auto room = then.find(share.node);
      const policy::Room& at_start = room == then.end() ? index_.rooms().at(share.node) : room->second;
      memory_at_start_[share.node] = at_start.memory - share.memory;
    }
  }

  // Of the jobs that run and of those that this plan starts, in the order of time.
  [[nodiscard]] std::function<std::optional<Release>()> releases() const {
    std::vector<Release> planned;
    for (const Start& start : plan_.starts) {
      if (start.limit > Duration{0}) planned.push_back({.at = now_ + start.limit, .placement = &start.placement});
    }
    std::ranges::stable_sort(planned, {}, &Release::at);
    return [this, planned = std::move(planned), at = std::size_t{0},
            running = index_.ends().begin()]() mutable -> std::optional<Release> {
      const bool more = running != index_.ends().end();
      if (at < planned.size() && (!more || planned[at].at < running->first)) return planned[at++];
      if (!more) return std::nullopt;
      const Job* job = cluster_.job(running->second);
      return Release{.at = running++->first, .placement = job->run->placement.get(), .job = job};
    };
  }

  const Cluster& cluster_;
  Index& index_;
  Instant now_;
  std::uint32_t budget_;
  WhatIf what_if_;
  std::priority_queue<Candidate> heap_;
  std::vector<Candidate> stuck_;  // a heap: the first jobs of classes that can't start
  Plan plan_;
  Overlay kept_;  // rooms as jobs may use them that outlast the reservation
  std::map<NodeId, Bytes> memory_at_start_;  // what the reservation leaves of it, by node
  JobId head_;
  int looks_ = 0;
  std::map<JobId, std::uint32_t> planned_;  // starts by array
  std::map<JobId, std::uint32_t> tasks_;    // tasks taken from a waiting array
};

}  // namespace

Plan plan_pass(const Cluster& cluster, Index& index, Instant now, std::uint32_t budget) {
  return Pass(cluster, index, now, std::max(1U, budget)).run();
}

}  // namespace drover::engine
