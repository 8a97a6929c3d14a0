// The live driver: one thread that owns the core. It takes inputs from a bounded inbox, steps the
// core, hands the facts to the store, and passes each group on to the follower once it is durable.
// Nothing is answered or sent from here.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "control/cluster_time.h"
#include "domain/input.h"
#include "engine/core.h"
#include "store/log.h"
#include "wire/inbox.h"

namespace drover::control {

using StepAnswer = std::variant<std::monostate, Reply, Refusal>;

struct Work {
  Input input;
  std::vector<store::Payload> payloads;        // stored with the facts
  std::function<void(const StepAnswer&)> done;  // after the facts are durable and the follower has them
};

// One group: what became durable together, and what waits for it.
struct Committed {
  std::uint64_t position = 0;  // 0: nothing had to be stored
  Instant at;
  std::vector<Event> facts;
  std::vector<std::pair<std::function<void(const StepAnswer&)>, StepAnswer>> answers;
  std::vector<NodeId> dirty;
  std::vector<engine::SendSignalOrder> signals;
};

class Driver {
 public:
  struct Options {
    std::uint64_t epoch = 1;
    std::uint64_t position = 0;  // of the last record
    std::size_t inbox = 20'000;
  };
  // `release` gets the groups in order, from the store's thread. `fail` is called when the store
  // could not keep a group: the process must stop.
  Driver(Options options, engine::Core core, store::Log& log, ClusterTime time,
         std::function<void(Committed)> release, std::function<void(const std::string&)> fail);
  ~Driver();
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  // False: the inbox is full; `work` is as it was.
  [[nodiscard]] bool push(Work&& work) { return inbox_.push(std::move(work)); }
  // Takes no more, finishes what was taken, waits for the store.
  void stop();

 private:
  struct Group;
  void run();
  void linger(std::vector<Work>& works);
  [[nodiscard]] bool is_busy(std::size_t more);
  void fold(Group& group, Work&& work, Instant now);
  void flush(Group&& group, Instant now);
  void run_passes(Group& group, Instant now);
  [[nodiscard]] milliseconds patience(Instant now) const;
  void stored(std::uint64_t position, const store::Appended& appended);
  void release_ready(std::unique_lock<std::mutex>& lock);

  static constexpr std::size_t kGroup = 512;     // inputs in one record
  static constexpr std::size_t kInFlight = 32;   // records on their way to the disk
  static constexpr Duration kWindow = milliseconds(10);
  static constexpr std::size_t kBusy = 10;              // inputs in two windows: a stream, more will come
  static constexpr Duration kLinger = milliseconds(3);  // then, for the next ones to share the commit
  static constexpr int kSlices = 4;              // of a pass between two looks at the inbox

  Options options_;
  engine::Core core_;
  store::Log& log_;
  ClusterTime time_;
  std::function<void(Committed)> release_;
  std::function<void(const std::string&)> fail_;
  wire::Inbox<Work> inbox_;
  Instant wake_at_;
  bool pass_due_ = true;
  Duration window_{0};          // since boot, when it began
  std::size_t in_window_ = 0;   // inputs since then
  std::size_t in_last_ = 0;     // in the window before
  std::uint64_t position_;

  std::mutex mutex_;
  std::condition_variable moved_;
  std::deque<Committed> waiting_;      // in order; the first ones are durable up to durable_
  std::uint64_t durable_ = 0;
  std::size_t in_flight_ = 0;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace drover::control
