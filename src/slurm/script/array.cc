#include "slurm/script/array.h"

#include <algorithm>
#include <optional>

#include "base/text.h"

namespace drover::slurm {
namespace {

Error malformed(std::string_view text) {
  return {Errc::invalid, "'" + printable(text) + "' is not a list of array indices: write for example 0-31,40:2%4"};
}

// first[-last][:step] of one item, or nothing where it is malformed.
struct Range {
  std::uint64_t first = 0, last = 0, step = 1;
};
std::optional<Range> parse_range(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view span = text.substr(0, colon);
  const std::size_t dash = span.find('-');
  const auto first = parse_uint(span.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : parse_uint(span.substr(dash + 1));
  const auto step =
      colon == std::string_view::npos ? std::optional<std::uint64_t>(1) : parse_uint(text.substr(colon + 1));
  if (!first || !last || !step || *step == 0 || *last < *first) return std::nullopt;
  return Range{*first, *last, *step};
}

// first-last:step where that is what a long list amounts to.
std::optional<std::string> as_steps(std::span<const std::uint32_t> tasks) {
  if (tasks.size() < 2 || tasks.back() - tasks.front() <= 10 || tasks[1] == tasks[0] + 1) return std::nullopt;
  const std::uint32_t step = tasks[1] - tasks[0];
  for (std::size_t i = 1; i < tasks.size(); ++i) {
    if (tasks[i] - tasks[i - 1] != step) return std::nullopt;
  }
  return std::to_string(tasks.front()) + "-" + std::to_string(tasks.back()) + ":" + std::to_string(step);
}

}  // namespace

Result<ArraySpec> parse_array(std::string_view text, ArrayLimits limits) {
  ArraySpec spec;
  const std::size_t percent = text.find('%');
  if (percent != std::string_view::npos) {
    const auto at_once = parse_uint(text.substr(percent + 1));
    if (!at_once || *at_once == 0 || *at_once > limits.most_tasks) return malformed(text);
    spec.at_once = static_cast<std::uint32_t>(*at_once);
  }
  const auto items = split(text.substr(0, percent), ',');
  if (items.empty()) return malformed(text);
  for (const std::string_view item : items) {
    const auto range = parse_range(item);
    if (!range) return malformed(text);
    if (range->last >= limits.above_last_index) {
      return Error{Errc::invalid, "array index " + std::to_string(range->last) + " is too large: indices go up to " +
                                      std::to_string(limits.above_last_index - 1)};
    }
    if (spec.tasks.size() + (range->last - range->first) / range->step >= limits.most_tasks) {
      return Error{Errc::invalid, "an array has at most " + std::to_string(limits.most_tasks) + " tasks"};
    }
    for (std::uint64_t i = range->first; i <= range->last; i += range->step) {
      spec.tasks.push_back(static_cast<std::uint32_t>(i));
    }
  }
  std::ranges::sort(spec.tasks);
  const auto rest = std::ranges::unique(spec.tasks);
  spec.tasks.erase(rest.begin(), rest.end());
  return spec;
}

std::string print_tasks(std::span<const std::uint32_t> tasks, std::size_t most) {
  if (const auto steps = as_steps(tasks)) return *steps;
  std::string text;
  for (std::size_t i = 0; i < tasks.size();) {
    std::size_t end = i + 1;
    while (end < tasks.size() && tasks[end] == tasks[end - 1] + 1) ++end;
    if (!text.empty()) text += ',';
    text += std::to_string(tasks[i]);
    if (end > i + 1) text += "-" + std::to_string(tasks[end - 1]);
    i = end;
    if (most != 0 && text.size() > most) {
      text.resize(most > 3 ? most - 3 : 0);
      return text + "...";
    }
  }
  return text;
}

}  // namespace drover::slurm
