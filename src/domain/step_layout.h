// Which task runs where: how many of a step's tasks each of its nodes gets, and which numbers.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "domain/step.h"

namespace drover {

struct LayoutNode {
  std::string_view name;
  std::uint32_t most = 0;  // tasks that it can hold, at least one
  std::uint32_t cpus = 0;  // tasks that have a CPU (or what each asks for) of their own
};

// One list of rising task numbers for each node. The nodes together hold `tasks`. Each gets one, but for
// planes that are too large for that: then the last nodes have none.
[[nodiscard]] std::vector<std::vector<TaskRange>> deal_tasks(const StepRequest& request, std::uint32_t tasks,
                                                             const std::vector<LayoutNode>& nodes);

[[nodiscard]] std::uint32_t count_of(const std::vector<TaskRange>& ranges);
// In rising order.
[[nodiscard]] std::vector<std::uint32_t> numbers_of(const std::vector<TaskRange>& ranges);

}  // namespace drover
