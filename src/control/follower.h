// The second Cluster: folded from durable records alone, in a thread of its own. It serves every
// read, projects the accounts, releases answers and tells the agents' sessions what changed, so
// nothing leaves the process that rests on a fact that isn't durable.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "api/service.h"
#include "api/views.h"
#include "control/driver.h"
#include "control/ledger.h"
#include "wire/inbox.h"

namespace drover::control {

class Follower {
 public:
  // Told in the follower's thread, with the state after the group. Nobody writes meanwhile.
  struct Listener {
    virtual ~Listener() = default;
    virtual void changed(const Cluster& cluster, const Committed& group) = 0;
    virtual void tick(const Cluster& cluster) = 0;  // about twice a second
  };

  Follower(Cluster cluster, std::uint64_t position, Instant at, Ledger& ledger);
  ~Follower();
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  void start(Listener& listener);
  void push(Committed group);  // any thread, in order
  void stop();                 // after the driver has stopped: folds what is left

  // Runs `visit(cluster, now, position)` while nothing changes. Keep it short: answers wait for it.
  template <class Visit>
  auto read(Visit visit) const {
    const std::shared_lock lock(mutex_);
    return visit(cluster_, now_, position_);
  }

  // `begin` sees the cluster and the position of its last record, while nothing changes; `observer` is told
  // of all that comes after.
  void observe(api::Observer& observer,
               const std::function<void(const Cluster&, Instant, std::uint64_t position)>& begin);
  // Passes on what a node says of a pod; any thread.
  void note(JobId job, std::vector<PodNote> notes);

  enum class Until : std::uint8_t { started, ended };
  // As api::Service::wait_started and wait_ended.
  void wait(JobId job, Until until, Duration patience, std::function<void(std::vector<api::JobView>)> done);

 private:
  struct Waiter {
    JobId job;
    Until until = Until::ended;
    Duration give_up{0};  // since boot
    std::function<void(std::vector<api::JobView>)> done;
  };
  void run();
  void fold(const Committed& group);
  void serve_waiters();
  void pass_on_notes();
  [[nodiscard]] api::Observer* observer_now() const;

  Ledger& ledger_;
  Listener* listener_ = nullptr;
  wire::Inbox<Committed> groups_;
  std::atomic<bool> stopping_ = false;

  mutable std::shared_mutex mutex_;
  Cluster cluster_;
  std::uint64_t position_;
  Instant now_;
  api::Observer* observer_ = nullptr;
  std::mutex notes_mutex_;
  std::vector<std::pair<JobId, std::vector<PodNote>>> notes_;

  std::mutex waiters_mutex_;
  std::vector<Waiter> waiters_;
  std::thread thread_;
};

}  // namespace drover::control
