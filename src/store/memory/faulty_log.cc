#include "store/memory/faulty_log.h"

namespace drover::store {
namespace {

void nobody_hears(const Appended&) {}

}  // namespace

void FaultyLog::sync() {
  holding_ = false;
  while (!waiting_.empty() && !down_) {
    auto [batch, done] = std::move(waiting_.front());
    waiting_.pop_front();
    append(std::move(batch), std::move(done));
  }
}

void FaultyLog::crash(std::size_t survivors) {
  for (; survivors > 0 && !waiting_.empty(); --survivors) {
    inner_.append(std::move(waiting_.front().first), nobody_hears);
    waiting_.pop_front();
  }
  waiting_.clear();
  down_ = true;
}

void FaultyLog::restart() { down_ = holding_ = broken_ = false; }

void FaultyLog::append(Batch batch, OnAppended done) {
  if (down_) return;
  if (holding_) {
    waiting_.emplace_back(std::move(batch), std::move(done));
    return;
  }
  if (broken_) return done({Outcome::unknown, inner_.head(), "the log is broken"});
  if (!break_next_) return inner_.append(std::move(batch), std::move(done));
  const Head before = inner_.head();
  if (*std::exchange(break_next_, std::nullopt)) inner_.append(std::move(batch), nobody_hears);
  broken_ = true;
  done({Outcome::unknown, before, "the disk failed"});
}

}  // namespace drover::store
