#include "agent/step/tasks.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

#include "base/proto.h"
#include "os/clock.h"

namespace drover::agent {
namespace {

constexpr std::size_t kMessageLimit = 1000;

}  // namespace

Tasks::Tasks(const PartSpec& spec, const Records& records, std::string key, Audience& audience)
    : spec_(spec), records_(records), key_(std::move(key)), audience_(audience), output_(audience) {
  for (const TaskSpec& task : spec.tasks) tasks_.push_back({.spec = &task});
  waiting_ = tasks_.size();
}

Status Tasks::prepare() {
  if (tasks_.empty()) return Error{Errc::invalid, "there is nothing to run"};
  const auto empty = [](const TaskSpec& task) { return task.argv.empty(); };
  if (std::any_of(spec_.tasks.begin(), spec_.tasks.end(), empty)) {
    return Error{Errc::invalid, "there is a task with nothing to run"};
  }
  return records_.add_tasks(key_, tasks_.size());
}

const Tasks::Task* Tasks::holds_back(std::size_t index) const {
  for (std::size_t i = 0; i < index; ++i) {
    if (tasks_[i].state != State::waiting && tasks_[i].state != State::starting) continue;
    if (shares_output(*tasks_[i].spec, *tasks_[index].spec)) return &tasks_[i];
  }
  return nullptr;
}

void Tasks::start_ready(const Entry& entry) {
  for (std::size_t i = 0; waiting_ > 0 && i < tasks_.size(); ++i) {
    if (tasks_[i].state == State::waiting && holds_back(i) == nullptr) start(i, entry);
  }
}

void Tasks::start(std::size_t index, const Entry& entry) {
  Task& task = tasks_[index];
  const bool second = std::any_of(spec_.tasks.begin(), spec_.tasks.begin() + static_cast<std::ptrdiff_t>(index),
                                  [&](const TaskSpec& other) { return shares_output(other, *task.spec); });
  auto started = start_task(spec_, *task.spec, spec_.append || second, entry);
  if (!started) return fail(index, started.error().message, 1);
  --waiting_;
  task.state = State::starting;
  task.pid = started->child.pid;
  task.outcome = std::move(started->child.outcome);
  by_pid_[task.pid] = index;
  outcomes_.add(task.outcome.get(), EPOLLIN, index);
  if (started->terminal) terminal_ = Fd(::fcntl(started->out.get(), F_DUPFD_CLOEXEC, 3));
  if (started->in) input_.add(std::move(started->in), started->terminal);
  if (started->out) output_.add(task.spec->id, StepChannel::out, std::move(started->out), started->terminal);
  if (started->err) output_.add(task.spec->id, StepChannel::err, std::move(started->err), false);
}

void Tasks::fail(std::size_t index, const std::string& why, int exit_code) {
  Task& task = tasks_[index];
  if (task.state == State::waiting) --waiting_;
  task.end.failure = why.substr(0, kMessageLimit);
  task.end.exit.code = exit_code;
  if (failure_.empty()) failure_ = task.end.failure;
  finish(index);
}

void Tasks::give_up(const std::string& why) {
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    if (tasks_[i].state == State::waiting) fail(i, why, 1);
  }
}

void Tasks::read_outcomes() {
  for (const epoll_event& event : outcomes_.ready()) read_outcome(event.data.u64);
}

// The pipe's end without a word means that the program runs.
void Tasks::read_outcome(std::size_t index) {
  Task& task = tasks_[index];
  if (!task.outcome) return;
  Failure failure;
  const ssize_t n = ::read(task.outcome.get(), &failure, sizeof failure);
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
  outcomes_.remove(task.outcome.get());
  task.outcome.reset();
  if (n == static_cast<ssize_t>(sizeof failure)) {
    task.end.failure = describe_failure(failure, start_of(spec_, *task.spec, false)).substr(0, kMessageLimit);
    if (failure_.empty()) failure_ = task.end.failure;
    own_fault_ = own_fault_ || is_own_fault(failure);
    return;
  }
  if (task.state == State::starting) task.state = State::running;
  if (first_running_ == 0) first_running_ = task.pid;
  audience_.send(frame(encode(StepDown{TaskStarted{.task = task.spec->id, .pid = task.pid}})));
}

void Tasks::over(pid_t pid, int status, const std::function<bool()>& by_memory) {
  const auto found = by_pid_.find(pid);
  if (found == by_pid_.end()) return;
  const std::size_t index = found->second;
  by_pid_.erase(found);
  Task& task = tasks_[index];
  read_outcome(index);  // written before the end, but shown later perhaps
  if (WIFSIGNALED(status)) {
    task.end.exit.signal = WTERMSIG(status);
    core_dumped_ = core_dumped_ || WCOREDUMP(status);
  } else {
    task.end.exit.code = WEXITSTATUS(status);
  }
  // Itself, or a program for which its shell waited.
  task.end.out_of_memory = weight(task.end.exit) == 128 + SIGKILL && by_memory();
  finish(index);
}

void Tasks::finish(std::size_t index) {
  Task& task = tasks_[index];
  task.state = State::over;
  task.end.task = task.spec->id;
  ++over_;
  const TaskEnd end{.task = task.spec->id, .exit_code = task.end.exit.code, .signal = task.end.exit.signal, .known = 1};
  [[maybe_unused]] const Status noted = records_.put(key_, index, end);
  if (weight(task.end.exit) > weight({.code = worst_.exit_code, .signal = worst_.signal})) worst_ = end;
  output_.process_over(task.spec->id, since_boot());
}

void Tasks::settle(Duration now) {
  if (told_ == over_) return;
  for (Task& task : tasks_) {
    if (task.told || task.state != State::over || !output_.drained(task.spec->id, now)) continue;
    task.told = true;
    ++told_;
    audience_.send(frame(encode(StepDown{task.end})));
  }
}

void Tasks::resize(std::uint32_t rows, std::uint32_t columns) {
  if (terminal_) set_window(terminal_, rows, columns);
}

std::vector<pid_t> Tasks::running() const {
  std::vector<pid_t> pids;
  for (const auto& [pid, index] : by_pid_) pids.push_back(pid);
  return pids;
}

}  // namespace drover::agent
