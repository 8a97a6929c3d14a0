#include "native/query_params.h"

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "api/views.h"
#include "base/text.h"
#include "native/rows.h"

namespace drover::native {
namespace {

using Take = std::function<Status(const std::string&)>;

// Every parameter must be known, and each value must be taken.
Status read_params(const wire::Target& target, const std::map<std::string_view, Take>& known) {
  for (const auto& [name, value] : target.query) {
    const auto it = known.find(name);
    if (it == known.end()) {
      std::vector<std::string_view> names;
      for (const auto& [other, take] : known) names.push_back(other);
      std::string message = "unknown parameter '" + printable(name, 60) + "'";
      const std::string_view meant = nearest_word(name, names);
      if (!meant.empty()) message += "; did you mean '" + std::string(meant) + "'?";
      return Error{Errc::invalid, std::move(message)};
    }
    if (Status taken = it->second(value); !taken) return std::move(taken).error().under(name);
  }
  return Done{};
}

Take texts(std::vector<std::string>& into) {
  return [&into](const std::string& value) -> Status {
    for (const std::string_view part : split(value, ',')) into.emplace_back(part);
    return Done{};
  };
}

Take refs(std::vector<JobRef>& into) {
  return [&into](const std::string& value) -> Status {
    for (const std::string_view part : split(value, ',')) into.push_back(TRY(job_ref(part)));
    return Done{};
  };
}

template <Worded E>
Take words(std::vector<E>& into) {
  return [&into](const std::string& value) -> Status {
    for (const std::string_view part : split(value, ',')) {
      const auto found = from_word<E>(part);
      if (!found) return Error{Errc::invalid, "unknown word '" + printable(part, 60) + "'"};
      into.push_back(*found);
    }
    return Done{};
  };
}

Take number(std::uint32_t& into) {
  return [&into](const std::string& value) -> Status {
    const auto found = parse_uint(value);
    if (!found || *found > 0xFFFFFFFFU) return Error{Errc::invalid, "'" + printable(value, 60) + "' is no number"};
    into = static_cast<std::uint32_t>(*found);
    return Done{};
  };
}

Take instant(std::optional<Instant>& into) {
  return [&into](const std::string& value) -> Status {
    const auto found = parse_int(value);
    if (!found) return Error{Errc::invalid, "'" + printable(value, 60) + "' is no time in milliseconds"};
    into = Instant(Duration(*found));
    return Done{};
  };
}

Take flag(bool& into) {
  return [&into](const std::string& value) -> Status {
    if (value != "true" && value != "false" && !value.empty()) return Error{Errc::invalid, "say true or false"};
    into = value != "false";
    return Done{};
  };
}

}  // namespace

Result<JobRef> job_ref(std::string_view text) {
  const auto mark = text.find('_');
  const auto job = parse_uint(text.substr(0, mark));
  if (!job || *job == 0) return Error{Errc::invalid, "'" + printable(text, 60) + "' is no job id"};
  JobRef ref{JobId(*job), {}};
  if (mark == std::string_view::npos) return ref;
  const auto task = parse_uint(text.substr(mark + 1));
  if (!task || *task >= kNoTask) return Error{Errc::invalid, "'" + printable(text, 60) + "' is no job id"};
  const auto index = static_cast<std::uint32_t>(*task);
  ref.tasks.push_back({index, index, 1});
  return ref;
}

Result<api::StepQuery> step_query(const wire::Target& target) {
  api::StepQuery query;
  const Take step = [&query](const std::string& value) { return number(query.step.emplace())(value); };
  TRY(read_params(target, {{"job", refs(query.jobs)}, {"step", step}, {"user", texts(query.users)}}));
  return query;
}

Result<WaitQuery> wait_query(const wire::Target& target) {
  WaitQuery query;
  const Take what = [&query](const std::string& value) -> Status {
    if (value != "started" && value != "ended") return Error{Errc::invalid, "say started or ended"};
    query.for_start = value == "started";
    return Done{};
  };
  const Take patience = [&query](const std::string& value) -> Status {
    std::uint32_t ms = 0;
    TRY(number(ms)(value));
    query.patience = milliseconds(ms);
    return Done{};
  };
  TRY(read_params(target, {{"for", what}, {"patience_ms", patience}}));
  return query;
}

Result<api::JobQuery> job_query(const wire::Target& target) {
  api::JobQuery query;
  JobSelector& select = query.select;
  const Take fields = [&query](const std::string& names) -> Status {
    query.fields = TRY(field_numbers<api::JobView>(names));
    return Done{};
  };
  TRY(read_params(target, {{"id", refs(select.jobs)},
                           {"user", texts(select.users)},
                           {"name", texts(select.names)},
                           {"partition", texts(select.partitions)},
                           {"account", texts(select.accounts)},
                           {"qos", texts(select.qos)},
                           {"node", texts(select.nodes)},
                           {"phase", words(select.phases)},
                           {"limit", number(query.limit)},
                           {"fields", fields}}));
  return query;
}

Result<HistoryQuery> history_query(const wire::Target& target) {
  HistoryQuery query;
  TRY(read_params(target, {{"job", refs(query.jobs)},
                           {"user", texts(query.users)},
                           {"name", texts(query.names)},
                           {"account", texts(query.accounts)},
                           {"partition", texts(query.partitions)},
                           {"node", texts(query.nodes)},
                           {"qos", texts(query.qos)},
                           {"waiting", flag(query.waiting)},
                           {"running", flag(query.running)},
                           {"ended_as", words(query.ended_as)},
                           {"since_ms", instant(query.since)},
                           {"until_ms", instant(query.until)},
                           {"all_attempts", flag(query.all_attempts)},
                           {"steps", flag(query.steps)},
                           {"limit", number(query.limit)}}));
  return query;
}

}  // namespace drover::native
