#include "slurm/step/board.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <utility>

#include "base/text.h"

namespace drover::slurm {
namespace {

constexpr int kSignalled = 128;

std::string how_it_ended(const TaskEnded& end) {
  if (!end.failure.empty()) return "launch failed: " + printable(end.failure);
  if (end.out_of_memory) return "Out Of Memory";
  if (end.exit.signal != 0) return ::strsignal(end.exit.signal);
  return "Exited with exit code " + std::to_string(end.exit.code);
}

std::string named(const std::vector<std::uint32_t>& tasks) {
  return (tasks.size() == 1 ? "task " : "tasks ") + task_list(tasks);
}

}  // namespace

std::string task_list(const std::vector<std::uint32_t>& tasks) {
  std::string text;
  for (std::size_t i = 0; i < tasks.size();) {
    std::size_t end = i + 1;
    while (end < tasks.size() && tasks[end] == tasks[end - 1] + 1) ++end;
    text += (text.empty() ? "" : ",") + std::to_string(tasks[i]);
    if (end > i + 1) text += "-" + std::to_string(tasks[end - 1]);
    i = end;
  }
  return text;
}

void TaskBoard::add(std::uint32_t task, std::string node) {
  tasks_[task] = {.node = std::move(node)};
}

TaskBoard::Task* TaskBoard::unended(std::uint32_t task) {
  const auto found = tasks_.find(task);
  if (found == tasks_.end()) return nullptr;
  const State state = found->second.state;
  return state == State::exited || state == State::abnormal ? nullptr : &found->second;
}

void TaskBoard::started(std::uint32_t task) {
  if (Task* known = unended(task); known != nullptr) known->state = State::running;
}

void TaskBoard::ended(const TaskEnded& end) {
  Task* task = unended(end.task);
  if (task == nullptr) return;
  ++ended_;
  int status = end.exit.signal != 0 ? kSignalled + end.exit.signal : end.exit.code;
  if ((end.out_of_memory || !end.failure.empty()) && status == 0) status = 1;
  task->state = status == 0 ? State::exited : State::abnormal;
  if (status == 0) return;
  failed_ = true;
  forced_ = forced_ || end.exit.signal == SIGKILL || end.exit.signal == SIGTERM;
  // What made us end the step counts, not that the others were ended for it.
  if (!ending_ || end.exit.signal == 0 || exit_status_ == 0) exit_status_ = std::max(exit_status_, status);
  unsaid_[{task->node, how_it_ended(end)}].push_back(end.task);
}

void TaskBoard::lost(const std::string& node, const std::string& how) {
  for (auto& [number, task] : tasks_) {
    if (task.node != node || unended(number) == nullptr) continue;
    task.state = State::abnormal;
    ++ended_;
    failed_ = true;
    exit_status_ = std::max(exit_status_, 1);
    unsaid_[{node, how}].push_back(number);
  }
}

std::vector<std::string> TaskBoard::take_failures() {
  std::vector<std::string> lines;
  for (auto& [what, tasks] : unsaid_) {
    std::ranges::sort(tasks);
    lines.push_back(what.first + ": " + named(tasks) + ": " + what.second);
  }
  unsaid_.clear();
  return lines;
}

std::vector<std::string> TaskBoard::status() const {
  constexpr std::array<std::pair<State, std::string_view>, 4> kStates{
      {{State::running, "running"},
       {State::abnormal, "exited abnormally"},
       {State::exited, "exited"},
       {State::unknown, "unknown"}}};
  std::vector<std::string> lines;
  for (const auto& [state, shown] : kStates) {
    std::vector<std::uint32_t> tasks;
    for (const auto& [number, task] : tasks_) {
      if (task.state == state) tasks.push_back(number);
    }
    if (!tasks.empty()) lines.push_back(step_ + " " + named(tasks) + ": " + std::string(shown));
  }
  return lines;
}

}  // namespace drover::slurm
