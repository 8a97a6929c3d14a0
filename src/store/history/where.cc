#include "store/history/where.h"

#include <string_view>

namespace drover::store {
namespace {

class Builder {
 public:
  explicit Builder(const HistoryQuery& filter) : filter_(filter) {}

  Where build() {
    jobs();
    any_of("user", filter_.users);
    any_of("name", filter_.names);
    any_of("account", filter_.accounts);
    any_of("partition", filter_.partitions);
    any_of("qos", filter_.qos);
    nodes();
    states();
    if (!filter_.all_attempts) add("restart = (SELECT max(restart) FROM jobs AS later WHERE later.job = jobs.job)");
    where_.sql += " ORDER BY job, restart";
    if (filter_.limit > 0) {
      where_.sql += " LIMIT ?";
      where_.values.emplace_back(static_cast<std::int64_t>(filter_.limit));
    }
    return std::move(where_);
  }

 private:
  void add(std::string_view condition) {
    where_.sql += where_.sql.empty() ? "WHERE (" : " AND (";
    where_.sql.append(condition).append(")");
  }
  void bind(std::uint64_t value) { where_.values.emplace_back(static_cast<std::int64_t>(value)); }

  static std::string marks(std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += i == 0 ? "?" : ",?";
    return text;
  }

  void any_of(std::string_view column, const std::vector<std::string>& words) {
    if (words.empty()) return;
    add(std::string(column) + " IN (" + marks(words.size()) + ")");
    where_.values.insert(where_.values.end(), words.begin(), words.end());
  }

  void jobs() {
    if (filter_.jobs.empty()) return;
    std::string condition;
    for (const JobRef& ref : filter_.jobs) {
      condition += condition.empty() ? "(" : " OR (";
      condition += "(job = ? OR array_job = ?)";
      bind(ref.job.value());
      bind(ref.job.value());
      tasks(ref, condition);
      condition += ")";
    }
    add(condition);
  }

  void tasks(const JobRef& ref, std::string& condition) {
    std::string any;
    for (const TaskRange& range : ref.tasks) {
      any += any.empty() ? "" : " OR ";
      any += "(array_task BETWEEN ? AND ? AND (array_task - ?) % ? = 0)";
      bind(range.first);
      bind(range.last);
      bind(range.first);
      bind(range.step == 0 ? 1 : range.step);
    }
    if (!any.empty()) condition += " AND (" + any + ")";
  }

  void nodes() {
    std::string condition;
    for (const std::string& node : filter_.nodes) {
      condition += condition.empty() ? "" : " OR ";
      condition += "instr(nodes, ?) > 0";
      where_.values.emplace_back("," + node + ",");
    }
    if (!condition.empty()) add(condition);
  }

  // The interval from one column to the next has a moment in common with the window. Each interval is
  // open on the right: a job that started as the window opens did not wait in it.
  std::string overlaps(const std::string& from, const std::string& to) {
    std::string condition = from + " > 0";
    if (filter_.until) {
      condition += " AND " + from + " <= ?";
      bind_instant(*filter_.until);
    }
    if (filter_.since) {
      condition += " AND " + to + " > ?";
      bind_instant(*filter_.since);
    }
    if (!filter_.since && !filter_.until) condition += " AND " + to + " = " + std::to_string(kNoEnd);
    return condition;
  }

  void bind_instant(Instant at) { where_.values.emplace_back(std::int64_t{at.time_since_epoch().count()}); }

  void states() {
    std::string condition;
    const auto alternative = [&](const std::string& text) {
      condition += (condition.empty() ? "(" : " OR (") + text + ")";
    };
    if (filter_.waiting) alternative(overlaps("submit_ms", "CASE start_ms WHEN 0 THEN until_ms ELSE start_ms END"));
    if (filter_.running) alternative(overlaps("start_ms", "until_ms"));
    if (!filter_.ended_as.empty()) {
      std::string ended = "until_ms < " + std::to_string(kNoEnd);
      ended += " AND cause IN (" + marks(filter_.ended_as.size()) + ")";
      for (const Cause cause : filter_.ended_as) bind(static_cast<std::uint64_t>(cause));
      if (filter_.since) {
        ended += " AND until_ms >= ?";
        bind_instant(*filter_.since);
      }
      if (filter_.until) {
        ended += " AND until_ms <= ?";
        bind_instant(*filter_.until);
      }
      alternative(ended);
    }
    if (!condition.empty()) return add(condition);
    if (filter_.since) {
      add("until_ms >= ?");
      bind_instant(*filter_.since);
    }
    if (filter_.until) {
      add("CASE eligible_ms WHEN 0 THEN submit_ms ELSE eligible_ms END <= ?");
      bind_instant(*filter_.until);
    }
  }

  const HistoryQuery& filter_;
  Where where_;
};

}  // namespace

Where where(const HistoryQuery& filter) { return Builder(filter).build(); }

}  // namespace drover::store
