#include "agent/pod/workers.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <utility>

namespace drover::agent {

Workers::Workers(std::size_t most) : most_(most), bell_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

Workers::~Workers() {
  {
    const std::lock_guard lock(mutex_);
    leaving_ = true;
    waiting_.clear();
  }
  wanted_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Workers::post(Work work) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(work));
    if (idle_ < waiting_.size() && threads_.size() < most_) threads_.emplace_back([this] { live(); });
    if (most_ == 0) ring();
  }
  wanted_.notify_one();
}

void Workers::ring() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(bell_.get(), &one, sizeof one);
}

void Workers::live() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    wanted_.wait(lock, [this] { return leaving_ || !waiting_.empty(); });
    --idle_;
    if (leaving_) return;
    const Work work = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    Reply reply = work();
    lock.lock();
    replies_.push_back(std::move(reply));
    ring();
  }
}

void Workers::turn() {
  std::uint64_t rung = 0;
  [[maybe_unused]] const auto read = ::read(bell_.get(), &rung, sizeof rung);
  std::vector<Reply> replies;
  std::deque<Work> own;
  {
    const std::lock_guard lock(mutex_);
    replies.swap(replies_);
    if (most_ == 0) own.swap(waiting_);
  }
  for (const Work& work : own) replies.push_back(work());
  for (const Reply& reply : replies) reply();
}

}  // namespace drover::agent
