// What squeue and scontrol say of a job, field by field.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/views.h"
#include "slurm/render/time.h"
#include "slurm/render/words.h"

namespace drover::slurm {

// How rows are shown.
struct Look {
  TimeFormat times;
  Instant now;          // cluster time of the list
  bool convert = true;  // amounts in large units
};

[[nodiscard]] std::string job_id_text(const api::JobView& job);      // "4_[2-9%2]", "4_0", "14"
[[nodiscard]] std::string array_task_text(const api::JobView& job);  // "2-9%2", "0", "N/A"
[[nodiscard]] std::vector<std::uint32_t> pending_tasks(const ArrayPending& pending);

// Unix seconds; nothing where it isn't known.
[[nodiscard]] std::optional<std::int64_t> start_of(const api::JobView& job, Instant now);
[[nodiscard]] std::optional<std::int64_t> end_of(const api::JobView& job, Instant now);
[[nodiscard]] std::optional<std::int64_t> time_of(Instant at);  // Instant{}: nothing

[[nodiscard]] std::int64_t used_seconds(const api::JobView& job, Instant now);
[[nodiscard]] std::int64_t seconds_of(Duration duration);
[[nodiscard]] std::string nodes_text(const std::vector<std::string>& nodes);  // compressed
[[nodiscard]] std::string nodes_or_reason(const api::JobView& job);

// MiB as asked, for %m; per what it is, is MemoryRule's business.
[[nodiscard]] std::int64_t min_memory_mib(const api::JobView& job);
// What a request comes to on so much; `memory_mib` counts where the request leaves it open.
struct Extent {
  std::uint32_t cpus = 0;
  std::int64_t memory_mib = 0;
  std::uint32_t nodes = 0;
  std::uint32_t tasks = 0;
};
[[nodiscard]] Tres asked_tres(const Request& request, const Extent& extent);
[[nodiscard]] Tres asked_tres(const api::JobView& job);
[[nodiscard]] Tres granted_tres(const api::JobView& job);  // all zero while it holds nothing

// Stable. A view is large, so each is moved once at most; lists mostly come in order already.
template <class Less>
void sort_views(std::vector<api::JobView>& jobs, const Less& less) {
  if (std::ranges::is_sorted(jobs, less)) return;
  std::vector<api::JobView*> order;
  order.reserve(jobs.size());
  for (api::JobView& job : jobs) order.push_back(&job);
  std::ranges::stable_sort(order, [&](const api::JobView* a, const api::JobView* b) { return less(*a, *b); });
  std::vector<api::JobView> sorted;
  sorted.reserve(jobs.size());
  for (api::JobView* job : order) sorted.push_back(std::move(*job));
  jobs = std::move(sorted);
}

// The order in which Slurm's controller lists jobs that are equal otherwise: a pending array stands
// where its latest task was split off.
void sort_as_listed(std::vector<api::JobView>& jobs);

// One row per waiting task (squeue -r).
void each_task(std::vector<api::JobView> jobs, const std::function<void(const api::JobView&)>& row);

// "(null)" for an empty text.
[[nodiscard]] std::string or_null(std::string text);

}  // namespace drover::slurm
