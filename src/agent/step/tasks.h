// The tasks of a part: which run, which are over, and what has been said of them. Their ends are in the
// records before anybody is told.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/cgroup/cgroup.h"
#include "agent/shim/records.h"
#include "agent/step/audience.h"
#include "agent/step/input.h"
#include "agent/step/output.h"
#include "agent/step/spec.h"
#include "agent/step/task.h"
#include "base/time.h"
#include "os/epoll.h"

namespace drover::agent {

class Tasks {
 public:
  Tasks(const PartSpec& spec, const Records& records, std::string key, Audience& audience);

  [[nodiscard]] Status prepare();
  // Starts those that nothing holds back any more: one that writes to the file of another comes after it.
  void start_ready(const Entry& entry);
  // None of those that haven't started will.
  void give_up(const std::string& why);
  // Readable when the word of a child about its start has come.
  [[nodiscard]] int outcomes_fd() const { return outcomes_.fd(); }
  void read_outcomes();
  // A child of ours is over; others are not known. `by_memory`: asked only when SIGKILL ended it.
  void over(pid_t pid, int status, const std::function<bool()>& by_memory);
  // Tells of ends whose last output has gone out.
  void settle(Duration now);

  [[nodiscard]] Output& output() { return output_; }
  [[nodiscard]] Input& input() { return input_; }
  void resize(std::uint32_t rows, std::uint32_t columns);
  [[nodiscard]] bool all_over() const { return over_ == tasks_.size(); }
  [[nodiscard]] bool some_untold() const { return told_ < over_; }
  [[nodiscard]] bool all_told() const { return told_ == tasks_.size(); }
  // The first that runs, 0 while there is none.
  [[nodiscard]] pid_t first_running() const { return first_running_; }
  [[nodiscard]] std::vector<pid_t> running() const;
  // The end that counts for the whole: the highest code, where a signal is 128 and its number.
  [[nodiscard]] const TaskEnd& worst() const { return worst_; }
  // Why one didn't start, and whether it would fail likewise elsewhere.
  [[nodiscard]] const std::string& failure() const { return failure_; }
  [[nodiscard]] bool own_fault() const { return own_fault_; }
  [[nodiscard]] bool core_dumped() const { return core_dumped_; }

 private:
  enum class State : std::uint8_t { waiting, starting, running, over };
  struct Task {
    const TaskSpec* spec = nullptr;
    State state = State::waiting;
    pid_t pid = -1;
    Fd outcome;
    TaskEnded end;
    bool told = false;
  };
  [[nodiscard]] const Task* holds_back(std::size_t index) const;
  void start(std::size_t index, const Entry& entry);
  void read_outcome(std::size_t index);
  void fail(std::size_t index, const std::string& why, int exit_code);
  void finish(std::size_t index);
  [[nodiscard]] static int weight(const ExitStatus& exit) { return exit.signal > 0 ? 128 + exit.signal : exit.code; }

  const PartSpec& spec_;
  const Records& records_;
  std::string key_;
  Audience& audience_;
  Output output_;
  Input input_;
  Epoll outcomes_;
  std::vector<Task> tasks_;
  std::map<pid_t, std::size_t> by_pid_;
  Fd terminal_;
  std::size_t waiting_ = 0;
  std::size_t over_ = 0;
  std::size_t told_ = 0;
  pid_t first_running_ = 0;
  TaskEnd worst_;
  std::string failure_;
  bool own_fault_ = false;
  bool core_dumped_ = false;
};

}  // namespace drover::agent
