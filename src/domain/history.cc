#include "domain/history.h"

#include <algorithm>
#include <limits>

namespace drover {
namespace {

constexpr Instant kNever{Duration::max()};

template <class T>
bool holds(const std::vector<T>& wanted, const T& value) {
  return wanted.empty() || std::ranges::find(wanted, value) != wanted.end();
}

bool names(const JobRef& ref, const HistoryRow& row) {
  if (ref.job != row.job && (!row.array || ref.job != row.array)) return false;
  return ref.tasks.empty() || std::ranges::any_of(ref.tasks, [&](const TaskRange& range) {
    return row.task >= range.first && row.task <= range.last && (row.task - range.first) % range.step == 0;
  });
}

// Has [from, to) a moment in common with the window? Without a window: does it go on?
bool overlaps(Instant from, Instant to, const HistoryQuery& q) {
  if (from == Instant{}) return false;
  if (!q.since && !q.until) return to == kNever;
  return (!q.until || from <= *q.until) && (!q.since || to > *q.since);
}

bool in_states(const HistoryRow& row, const HistoryQuery& q) {
  const Instant end = row.ended == Instant{} ? kNever : row.ended;
  if (q.waiting && overlaps(row.submitted, row.started == Instant{} ? end : row.started, q)) return true;
  if (q.running && overlaps(row.started, end, q)) return true;
  return row.ended != Instant{} && !q.ended_as.empty() && holds(q.ended_as, row.cause) &&
         (!q.since || row.ended >= *q.since) && (!q.until || row.ended <= *q.until);
}

}  // namespace

bool passes(const HistoryRow& row, const HistoryQuery& q) {
  if (!q.jobs.empty() && std::ranges::none_of(q.jobs, [&](const JobRef& ref) { return names(ref, row); })) return false;
  if (!holds(q.users, row.user) || !holds(q.names, row.name) || !holds(q.accounts, row.account) ||
      !holds(q.partitions, row.partition) || !holds(q.qos, row.qos)) {
    return false;
  }
  if (!q.nodes.empty() && std::ranges::none_of(row.nodes, [&](const std::string& n) { return holds(q.nodes, n); })) {
    return false;
  }
  if (q.waiting || q.running || !q.ended_as.empty()) return in_states(row, q);
  const Instant begin = row.eligible == Instant{} ? row.submitted : row.eligible;
  if (q.until && begin > *q.until) return false;
  return !q.since || row.ended == Instant{} || row.ended >= *q.since;
}

}  // namespace drover
