// One thread with its io_context and a coarse clock. Everything of a connection happens on the
// thread of its shard; other threads hand work over with post(). Deadlines are counted in ticks, so
// a request costs no timer of its own. Internal to wire.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <thread>

namespace drover::wire {

namespace asio = boost::asio;

// Something with a deadline on a shard. Touched on the shard's thread only.
class Timed {
 public:
  virtual ~Timed() = default;
  virtual void on_deadline() = 0;
  // The owner winds down: what is idle ends, what is at work may finish.
  virtual void on_wind_down() = 0;
  // The shard stops: let go of everything now.
  virtual void on_stop() = 0;

 private:
  friend class Shard;
  std::uint64_t deadline_ = 0;  // in ticks; 0: none
  std::list<std::shared_ptr<Timed>>::iterator place_;
  bool listed_ = false;
};

class Shard : public std::enable_shared_from_this<Shard> {
 public:
  static constexpr std::chrono::milliseconds kTick{50};

  Shard() : context_(1), guard_(context_.get_executor()), timer_(context_) {}
  ~Shard();
  Shard(const Shard&) = delete;
  Shard& operator=(const Shard&) = delete;

  void start();
  // Ends the thread: what is listed is told to stop, what was posted is run, later posts are
  // dropped. Not from the shard's own thread.
  void stop();

  // Runs `work` on the shard's thread, at once when this is it. False after stop(): it never runs.
  template <class Work>
  bool post(Work&& work) {
    if (is_here()) {
      work();
      return true;
    }
    return post_later(std::forward<Work>(work));
  }
  template <class Work>
  bool post_later(Work&& work) {
    const std::lock_guard lock(mutex_);
    if (stopped_) return false;
    asio::post(context_, std::forward<Work>(work));
    return true;
  }
  [[nodiscard]] bool is_here() const { return thread_.get_id() == std::this_thread::get_id(); }
  [[nodiscard]] asio::io_context& context() { return context_; }
  // Nothing new may begin, it would never be told to stop.
  [[nodiscard]] bool ending() const { return ending_; }

  // On the shard's thread:
  void add(const std::shared_ptr<Timed>& timed);
  void remove(Timed& timed);
  void expire_in(Timed& timed, std::chrono::milliseconds delay);
  static void never_expire(Timed& timed) { timed.deadline_ = 0; }
  void each(const std::function<void(Timed&)>& visit);

 private:
  void run();
  void arm();
  void sweep();

  asio::io_context context_;
  asio::executor_work_guard<asio::io_context::executor_type> guard_;
  asio::steady_timer timer_;
  std::thread thread_;
  std::list<std::shared_ptr<Timed>> timed_;
  std::uint64_t now_ = 1;
  bool armed_ = false;
  bool ending_ = false;
  std::mutex mutex_;
  bool stopped_ = false;
};

}  // namespace drover::wire
