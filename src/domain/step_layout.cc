#include "domain/step_layout.h"

#include <algorithm>

namespace drover {
namespace {

using Numbers = std::vector<std::vector<std::uint32_t>>;

// Turn by turn, `plane` tasks at a time. Nodes are filled up to their CPUs first; what is more than all
// CPUs (overcommit) goes round again.
template <class Take>
void go_round(std::uint32_t tasks, std::uint32_t plane, const std::vector<LayoutNode>& nodes, Take take) {
  std::vector<std::uint32_t> counts(nodes.size());
  bool beyond = false;
  for (std::uint32_t task = 0; task < tasks;) {
    bool moved = false;
    for (std::size_t i = 0; i < nodes.size() && task < tasks; ++i) {
      const std::uint32_t bound = beyond ? nodes[i].most : std::min(nodes[i].most, std::max(1U, nodes[i].cpus));
      for (std::uint32_t k = 0; k < plane && counts[i] < bound && task < tasks; ++k) {
        ++counts[i];
        take(i, task++);
        moved = true;
      }
    }
    if (moved) continue;
    if (beyond) return;
    beyond = true;
  }
}

Numbers dealt(const StepRequest& request, std::uint32_t tasks, const std::vector<LayoutNode>& nodes) {
  Numbers numbers(nodes.size());
  const auto note = [&](std::size_t node, std::uint32_t task) { numbers[node].push_back(task); };
  switch (request.distribution) {
    case Distribution::cyclic: go_round(tasks, 1, nodes, note); break;
    case Distribution::plane: go_round(tasks, request.plane, nodes, note); break;
    case Distribution::arbitrary:
      for (std::uint32_t task = 0; task < request.include_nodes.size(); ++task) {
        const auto found = std::ranges::find(nodes, request.include_nodes[task], &LayoutNode::name);
        if (found != nodes.end()) note(static_cast<std::size_t>(found - nodes.begin()), task);
      }
      break;
    case Distribution::block: {
      // As many on each node as cyclic would give it (so none is without), then in order.
      std::vector<std::uint32_t> counts(nodes.size());
      go_round(tasks, 1, nodes, [&](std::size_t node, std::uint32_t) { ++counts[node]; });
      std::uint32_t task = 0;
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        for (std::uint32_t k = 0; k < counts[i]; ++k) note(i, task++);
      }
      break;
    }
  }
  return numbers;
}

std::vector<TaskRange> ranges_of(const std::vector<std::uint32_t>& numbers) {
  std::vector<TaskRange> ranges;
  for (std::size_t i = 0; i < numbers.size();) {
    TaskRange range{.first = numbers[i], .last = numbers[i], .step = 1};
    if (++i < numbers.size()) range.step = numbers[i] - range.first;
    while (i < numbers.size() && numbers[i] == range.last + range.step) range.last = numbers[i++];
    if (range.first == range.last) range.step = 1;
    ranges.push_back(range);
  }
  return ranges;
}

}  // namespace

std::vector<std::vector<TaskRange>> deal_tasks(const StepRequest& request, std::uint32_t tasks,
                                               const std::vector<LayoutNode>& nodes) {
  std::vector<std::vector<TaskRange>> ranges;
  for (const auto& numbers : dealt(request, tasks, nodes)) ranges.push_back(ranges_of(numbers));
  return ranges;
}

std::uint32_t count_of(const std::vector<TaskRange>& ranges) {
  std::uint32_t count = 0;
  for (const TaskRange& range : ranges) count += (range.last - range.first) / range.step + 1;
  return count;
}

std::vector<std::uint32_t> numbers_of(const std::vector<TaskRange>& ranges) {
  std::vector<std::uint32_t> numbers;
  for (const TaskRange& range : ranges) {
    for (std::uint32_t task = range.first; task <= range.last; task += range.step) numbers.push_back(task);
  }
  std::ranges::sort(numbers);
  return numbers;
}

}  // namespace drover
