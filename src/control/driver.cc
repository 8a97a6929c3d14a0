#include "control/driver.h"

#include <algorithm>
#include <utility>

#include "base/proto.h"
#include "os/clock.h"

namespace drover::control {

struct Driver::Group {
  Committed committed;
  std::vector<std::string> inputs;
  std::vector<store::Payload> payloads;
  [[nodiscard]] bool empty() const { return inputs.empty() && committed.answers.empty(); }
};

Driver::Driver(Options options, engine::Core core, store::Log& log, ClusterTime time,
               std::function<void(Committed)> release, std::function<void(const std::string&)> fail)
    : options_(options),
      core_(std::move(core)),
      log_(log),
      time_(time),
      release_(std::move(release)),
      fail_(std::move(fail)),
      inbox_(options.inbox),
      position_(options.position),
      durable_(options.position),
      thread_([this] { run(); }) {}

Driver::~Driver() { stop(); }

void Driver::stop() {
  stopping_ = true;
  inbox_.close();
  if (thread_.joinable()) thread_.join();
  std::unique_lock lock(mutex_);
  moved_.wait(lock, [&] { return in_flight_ == 0; });
}

milliseconds Driver::patience(Instant now) const {
  if (pass_due_) return milliseconds(0);
  if (wake_at_ == Instant{}) return milliseconds(1000);
  return std::clamp(std::chrono::duration_cast<milliseconds>(wake_at_ - now), milliseconds(0), milliseconds(1000));
}

void Driver::run() {
  Instant now = time_.advance(wall_now(), since_boot());
  for (;;) {
    std::vector<Work> works = inbox_.pop_all(patience(now));
    linger(works);
    now = time_.advance(wall_now(), since_boot());
    Group group;
    if (const auto jump = time_.take_jump()) fold(group, {.input = ClockJump{*jump}}, now);
    for (Work& work : works) {
      fold(group, std::move(work), now);
      if (group.inputs.size() >= kGroup) flush(std::exchange(group, {}), now);
    }
    if (wake_at_ != Instant{} && now >= wake_at_) fold(group, {.input = Timer{}}, now);
    run_passes(group, now);
    if (!group.empty()) flush(std::move(group), now);
    if (stopping_ && works.empty() && inbox_.size() == 0) return;
  }
}

bool Driver::is_busy(std::size_t more) {
  const Duration now = since_boot();
  if (now - window_ >= kWindow) {
    in_last_ = now - window_ < 2 * kWindow ? in_window_ : 0;
    in_window_ = 0;
    window_ = now;
  }
  in_window_ += more;
  return in_last_ + in_window_ >= kBusy;
}

// Under a stream of inputs, those that come within a moment share one commit. Somebody who submits one
// job after the other waits for nobody.
void Driver::linger(std::vector<Work>& works) {
  if (!is_busy(works.size()) || works.empty() || works.size() >= kGroup || stopping_) return;
  const Duration until = since_boot() + kLinger;
  for (Duration now = since_boot(); now < until && works.size() < kGroup && !stopping_; now = since_boot()) {
    std::ranges::move(inbox_.pop_all(until - now), std::back_inserter(works));
  }
}

// Submit and placement of an idle cluster share one commit: a pass rides in the record of its cause.
void Driver::run_passes(Group& group, Instant now) {
  for (int slice = 0; pass_due_ && slice < kSlices; ++slice) {
    fold(group, {.input = Pass{core_.view().config().settings.pass_budget}}, now);
    if (inbox_.size() > 0) return;
  }
}

void Driver::fold(Group& group, Work&& work, Instant now) {
  engine::Outcome outcome = core_.step(work.input, now);
  wake_at_ = outcome.wake_at;
  pass_due_ = outcome.pass_due;
  Committed& c = group.committed;
  const bool refused = std::holds_alternative<Refusal>(outcome.answer);
  // A refused wish leaves no state behind, so there is nothing to store or to replay.
  if (!refused || !outcome.facts.empty()) {
    group.inputs.push_back(encode(work.input));
    std::ranges::move(work.payloads, std::back_inserter(group.payloads));
  }
  std::ranges::move(outcome.facts, std::back_inserter(c.facts));
  std::ranges::copy(outcome.dirty, std::back_inserter(c.dirty));
  std::ranges::copy(outcome.signals, std::back_inserter(c.signals));
  if (work.done) c.answers.emplace_back(std::move(work.done), std::move(outcome.answer));
}

void Driver::flush(Group&& group, Instant now) {
  Committed committed = std::move(group.committed);
  committed.at = now;
  std::unique_lock lock(mutex_);
  if (group.inputs.empty()) {
    waiting_.push_back(std::move(committed));
    release_ready(lock);
    return;
  }
  moved_.wait(lock, [&] { return in_flight_ < kInFlight; });
  committed.position = ++position_;
  store::Record record{.position = position_, .epoch = options_.epoch, .at = now, .inputs = std::move(group.inputs)};
  for (const Event& event : committed.facts) record.facts.push_back(encode(event));
  waiting_.push_back(std::move(committed));
  ++in_flight_;
  lock.unlock();
  store::Batch batch;
  batch.records.push_back(std::move(record));
  batch.payloads = std::move(group.payloads);
  log_.append(std::move(batch),
              [this, position = position_](const store::Appended& appended) { stored(position, appended); });
}

void Driver::stored(std::uint64_t position, const store::Appended& appended) {
  if (appended.outcome != store::Outcome::stored) {
    fail_(appended.error);
    return;  // unreachable in the product: the process stops
  }
  std::unique_lock lock(mutex_);
  durable_ = position;
  release_ready(lock);
  --in_flight_;
  moved_.notify_all();
}

// Called with the lock held, which also keeps the groups in order.
void Driver::release_ready(std::unique_lock<std::mutex>&) {
  while (!waiting_.empty() && waiting_.front().position <= durable_) {
    release_(std::move(waiting_.front()));
    waiting_.pop_front();
  }
}

}  // namespace drover::control
