#include "wire/shard.h"

#include <exception>
#include <utility>
#include <vector>

#include "base/check.h"

namespace drover::wire {

Shard::~Shard() { CHECK(!thread_.joinable()); }

void Shard::start() {
  // The thread waits for thread_ to be set, so that is_here() is right from the first handler on.
  const std::lock_guard lock(mutex_);
  thread_ = std::thread([this] {
    { const std::lock_guard wait(mutex_); }
    run();
  });
}

void Shard::run() {
  for (;;) {
    try {
      context_.run();
      return;
    } catch (const std::exception&) {
      // Out of memory in one handler: that connection is left to its deadline, the others go on.
    }
  }
}

void Shard::stop() {
  CHECK(!is_here());
  post_later([self = shared_from_this()] {
    self->ending_ = true;
    self->each([](Timed& timed) { timed.on_stop(); });
    self->timer_.cancel();
    self->guard_.reset();
  });
  if (thread_.joinable()) thread_.join();
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  // What was posted after the thread had left still holds references; run it here.
  context_.restart();
  run();
}

void Shard::add(const std::shared_ptr<Timed>& timed) {
  timed->place_ = timed_.insert(timed_.end(), timed);
  timed->listed_ = true;
}

void Shard::remove(Timed& timed) {
  if (!timed.listed_) return;
  timed.listed_ = false;
  timed.deadline_ = 0;
  const std::shared_ptr<Timed> last = std::move(*timed.place_);  // outlives the erase
  timed_.erase(timed.place_);
}

void Shard::expire_in(Timed& timed, std::chrono::milliseconds delay) {
  // The tick that is under way counts for nothing, so a deadline is never early.
  timed.deadline_ = now_ + 1 + static_cast<std::uint64_t>(delay / kTick);
  arm();
}

void Shard::each(const std::function<void(Timed&)>& visit) {
  const std::vector<std::shared_ptr<Timed>> all(timed_.begin(), timed_.end());
  for (const auto& timed : all) visit(*timed);
}

void Shard::arm() {
  if (armed_) return;
  armed_ = true;
  timer_.expires_after(kTick);
  timer_.async_wait([this](const boost::system::error_code& error) {
    armed_ = false;
    if (!error) sweep();
  });
}

void Shard::sweep() {
  ++now_;
  std::vector<std::shared_ptr<Timed>> due;
  bool waiting = false;
  for (const auto& timed : timed_) {
    if (timed->deadline_ == 0) continue;
    if (timed->deadline_ <= now_) {
      timed->deadline_ = 0;
      due.push_back(timed);
    } else {
      waiting = true;
    }
  }
  if (waiting) arm();
  for (const auto& timed : due) timed->on_deadline();
}

}  // namespace drover::wire
