#include "control/follower.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "domain/select.h"
#include "os/clock.h"

namespace drover::control {
namespace {

constexpr std::size_t kMostNotes = 10'000;  // not passed on yet

bool has_come(Follower::Until until, Phase phase) {
  if (until == Follower::Until::ended) return phase == Phase::ended;
  return phase != Phase::waiting && phase != Phase::placed;
}

}  // namespace

Follower::Follower(Cluster cluster, std::uint64_t position, Instant at, Ledger& ledger)
    : ledger_(ledger),
      groups_(std::numeric_limits<std::size_t>::max()),  // bounded by the driver's records in flight
      cluster_(std::move(cluster)),
      position_(position),
      now_(at) {}

Follower::~Follower() { stop(); }

void Follower::start(Listener& listener) {
  listener_ = &listener;
  thread_ = std::thread([this] { run(); });
}

void Follower::push(Committed group) { CHECK(groups_.push(std::move(group))); }

void Follower::stop() {
  stopping_ = true;
  groups_.close();
  if (thread_.joinable()) thread_.join();
}

void Follower::run() {
  Duration ticked = since_boot();
  for (;;) {
    const std::vector<Committed> groups = groups_.pop_all(milliseconds(250));
    for (const Committed& group : groups) fold(group);
    pass_on_notes();
    if (stopping_ && groups.empty() && groups_.size() == 0) return;
    if (since_boot() - ticked < milliseconds(500)) continue;
    ticked = since_boot();
    ledger_.write_some();
    serve_waiters();
    if (api::Observer* observer = observer_now()) observer->tick(cluster_, now_);
    listener_->tick(cluster_);
  }
}

void Follower::observe(api::Observer& observer,
                       const std::function<void(const Cluster&, Instant, std::uint64_t)>& begin) {
  const std::unique_lock lock(mutex_);  // the follower's thread changes nothing and tells nobody meanwhile
  CHECK(observer_ == nullptr);
  begin(cluster_, now_, position_);
  observer_ = &observer;
}

api::Observer* Follower::observer_now() const {
  const std::shared_lock lock(mutex_);
  return observer_;
}

void Follower::note(JobId job, std::vector<PodNote> notes) {
  const std::lock_guard lock(notes_mutex_);
  if (notes_.size() < kMostNotes) notes_.emplace_back(job, std::move(notes));
}

void Follower::pass_on_notes() {
  std::vector<std::pair<JobId, std::vector<PodNote>>> notes;
  {
    const std::lock_guard lock(notes_mutex_);
    notes.swap(notes_);
  }
  api::Observer* observer = observer_now();
  if (observer == nullptr) return;
  for (const auto& [job, said] : notes) observer->noted(cluster_, job, said);
}

void Follower::fold(const Committed& group) {
  bool moved = false;  // something that somebody may wait for
  api::Observer* observer = nullptr;
  {
    const std::unique_lock lock(mutex_);
    observer = observer_;
    for (const Event& event : group.facts) {
      cluster_.apply(event);
      ledger_.note(cluster_, event);
      moved |= std::holds_alternative<JobEnded>(event) || std::holds_alternative<JobStarted>(event);
    }
    if (group.position != 0) position_ = group.position;
    now_ = std::max(now_, group.at);
  }
  if (group.position != 0) ledger_.reached(group.position);
  // This thread alone writes cluster_, so from here it reads it without a lock.
  if (observer != nullptr && !group.facts.empty()) observer->changed(cluster_, now_, group.facts);
  listener_->changed(cluster_, group);
  for (const auto& [done, answer] : group.answers) done(answer);
  if (moved) serve_waiters();
}

void Follower::wait(JobId job, Until until, Duration patience,
                    std::function<void(std::vector<api::JobView>)> done) {
  {
    const std::lock_guard lock(waiters_mutex_);
    waiters_.push_back({.job = job, .until = until, .give_up = since_boot() + patience, .done = std::move(done)});
  }
  serve_waiters();
}

void Follower::serve_waiters() {
  const Duration now = since_boot();
  std::vector<std::pair<Waiter, std::vector<api::JobView>>> ready;
  {
    const std::lock_guard waiters_lock(waiters_mutex_);
    if (waiters_.empty()) return;
    const std::shared_lock lock(mutex_);
    std::erase_if(waiters_, [&](Waiter& waiter) {
      const std::vector<JobId> records = records_of(cluster_, {.job = waiter.job});
      const bool over = std::ranges::all_of(
          records, [&](JobId id) { return has_come(waiter.until, cluster_.jobs().at(id).phase); });
      if (!over && now < waiter.give_up) return false;
      std::vector<api::JobView> views;
      for (const JobId id : records) views.push_back(api::job_view(cluster_, cluster_.jobs().at(id), api::Fields{}));
      ready.emplace_back(std::move(waiter), std::move(views));
      return true;
    });
  }
  for (auto& [waiter, views] : ready) waiter.done(std::move(views));
}

}  // namespace drover::control
