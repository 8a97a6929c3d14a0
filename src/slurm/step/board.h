// How a step's tasks are doing, and what srun says of it: who runs, who failed and how, what the
// whole comes to. Words and grouping are Slurm's.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "domain/step_launch.h"

namespace drover::slurm {

class TaskBoard {
 public:
  // `step` is shown: "StepId=17.0".
  explicit TaskBoard(std::string step) : step_(std::move(step)) {}

  void add(std::uint32_t task, std::string node);
  void started(std::uint32_t task);
  void ended(const TaskEnded& end);
  // The node's tasks that haven't ended will never be heard of again; `how` is said of them.
  void lost(const std::string& node, const std::string& how);

  [[nodiscard]] bool any_ended() const { return ended_ > 0; }
  [[nodiscard]] bool all_ended() const { return ended_ == tasks_.size(); }
  [[nodiscard]] bool any_failed() const { return failed_; }
  // The highest exit code, 128 + the signal of a task that was killed.
  // The step is being ended, by its own client.
  void ending() { ending_ = true; }
  [[nodiscard]] int exit_status() const { return exit_status_; }
  // A task was ended by SIGKILL or SIGTERM.
  [[nodiscard]] bool forced() const { return forced_; }

  // Ends that weren't said yet, tasks of a node with the same end together, without "srun: error:
  // ".
  [[nodiscard]] std::vector<std::string> take_failures();
  [[nodiscard]] bool has_failures() const { return !unsaid_.empty(); }
  // "StepId=17.0 tasks 0-1: running".
  [[nodiscard]] std::vector<std::string> status() const;

 private:
  enum class State : std::uint8_t { unknown, running, exited, abnormal };
  struct Task {
    std::string node;
    State state = State::unknown;
  };
  Task* unended(std::uint32_t task);

  std::string step_;
  std::map<std::uint32_t, Task> tasks_;
  std::size_t ended_ = 0;
  bool failed_ = false;
  bool forced_ = false;
  bool ending_ = false;
  int exit_status_ = 0;
  std::map<std::pair<std::string, std::string>, std::vector<std::uint32_t>>
      unsaid_;  // node, how -> tasks
};

// {0,1,2,5} -> "0-2,5".
[[nodiscard]] std::string task_list(const std::vector<std::uint32_t>& tasks);

}  // namespace drover::slurm
