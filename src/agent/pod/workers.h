// Threads for what may wait (a container runtime, a file system, a probe), so that the agent's one thread
// never does. Each piece of work gives back what is to be done with its result, which the agent's thread does.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "agent/pod/runtime.h"
#include "os/fd.h"

namespace drover::agent {

class Workers {
 public:
  using Reply = std::function<void()>;
  using Work = std::function<Reply()>;

  // `most` threads are made as they are needed. 0: turn() itself does all, for tests.
  explicit Workers(std::size_t most = 64);
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  ~Workers();  // waits for what is under way

  void post(Work work);
  // The same for a question whose answer goes to `then`.
  template <class T>
  void ask(std::function<Result<T>()> question, Then<T> then) {
    post([question = std::move(question), then = std::move(then)]() -> Reply {
      auto answer = std::make_shared<Result<T>>(question());
      return [answer, then] { then(std::move(*answer)); };
    });
  }
  // Does what has come back. To be called when fd() is readable.
  void turn();
  [[nodiscard]] int fd() const { return bell_.get(); }

 private:
  void live();
  void ring();

  std::size_t most_;
  Fd bell_;
  std::mutex mutex_;
  std::condition_variable wanted_;
  std::deque<Work> waiting_;
  std::vector<Reply> replies_;
  std::vector<std::thread> threads_;
  std::size_t idle_ = 0;
  bool leaving_ = false;
};

}  // namespace drover::agent
