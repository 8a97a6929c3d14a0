// Where threads at the edges meet the thread that works: a bounded queue of many producers and one
// consumer. A full inbox refuses (the caller is told to come back later); it never grows.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

namespace drover::wire {

template <class T>
class Inbox {
 public:
  explicit Inbox(std::size_t limit) : limit_(limit) {}

  // False when the inbox is full or closed; `item` is then left as it was.
  [[nodiscard]] bool push(T&& item) {
    {
      const std::lock_guard lock(mutex_);
      if (closed_ || items_.size() >= limit_) return false;
      items_.push_back(std::move(item));
      if (items_.size() > 1) return true;  // the consumer has been woken already
    }
    filled_.notify_one();
    return true;
  }

  // Everything that is queued, in order; waits for at most `wait` when nothing is. Empty after the
  // wait, or at once when the inbox is closed and drained.
  [[nodiscard]] std::vector<T> pop_all(std::chrono::milliseconds wait) {
    std::unique_lock lock(mutex_);
    filled_.wait_for(lock, wait, [&] { return closed_ || woken_ || !items_.empty(); });
    woken_ = false;
    return std::exchange(items_, {});
  }

  // Ends a pop_all that is waiting, without an item.
  void wake() {
    {
      const std::lock_guard lock(mutex_);
      woken_ = true;
    }
    filled_.notify_one();
  }

  // Nothing more goes in; what is queued can still be taken.
  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    filled_.notify_all();
  }

  [[nodiscard]] bool closed() const {
    const std::lock_guard lock(mutex_);
    return closed_;
  }
  [[nodiscard]] std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return items_.size();
  }
  [[nodiscard]] std::size_t limit() const { return limit_; }

 private:
  const std::size_t limit_;
  mutable std::mutex mutex_;
  std::condition_variable filled_;
  std::vector<T> items_;
  bool closed_ = false;
  bool woken_ = false;
};

}  // namespace drover::wire
