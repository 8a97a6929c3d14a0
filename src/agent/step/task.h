// One task's start: its pipes, its terminal or its files, and what the child is told.
#pragma once

#include <string>
#include <vector>

#include "agent/shim/child.h"
#include "agent/shim/spec.h"
#include "agent/step/spec.h"
#include "base/result.h"
#include "os/fd.h"

namespace drover::agent {

struct StartedTask {
  Child child;
  // The near ends of what goes through the stream; none where a file is in its place.
  Fd in;
  Fd out;
  Fd err;
  bool terminal = false;  // then `out` is the terminal, and `in` the same once more
};

// Whether this task is the one on a terminal.
[[nodiscard]] bool has_terminal(const PartSpec& part, const TaskSpec& task);
// All that the child needs, in the words of a job.
[[nodiscard]] StartSpec start_of(const PartSpec& part, const TaskSpec& task, bool append);
// `entry` is the part's; the task's own CPUs come on top where the machine has them.
[[nodiscard]] Result<StartedTask> start_task(const PartSpec& part, const TaskSpec& task, bool append, Entry entry);
[[nodiscard]] bool shares_output(const TaskSpec& a, const TaskSpec& b);

void set_window(const Fd& terminal, std::uint32_t rows, std::uint32_t columns);

// `base` with the variables of `over` in place of its own.
[[nodiscard]] std::vector<std::string> merged(std::vector<std::string> base, const std::vector<std::string>& over);

}  // namespace drover::agent
