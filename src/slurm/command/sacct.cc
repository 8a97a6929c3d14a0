// sacct: the accounts of jobs.
#include <algorithm>
#include <map>
#include <set>
#include <array>
#include <iterator>

#include "base/text.h"
#include "slurm/command/call.h"
#include "slurm/exit.h"
#include "slurm/render/account.h"
#include "slurm/render/account_json.h"
#include "slurm/script/hostlist.h"
#include "slurm/script/jobid.h"

namespace drover::slurm {
namespace {

using enum Takes;
constexpr std::array kOptions{CommandOption{"accounts", 'A', value},
                              CommandOption{"allclusters", 'L'},
                              CommandOption{"allocations", 'X'},
                              CommandOption{"allusers", 'a'},
                              CommandOption{"array", 0},
                              CommandOption{"associations", 'x', value, true},
                              CommandOption{"batch-script", 'B', nothing, true},
                              CommandOption{"brief", 'b'},
                              CommandOption{"clusters", 'M', value},
                              CommandOption{"completion", 'c', nothing, true},
                              CommandOption{"delimiter", 0, value},
                              CommandOption{"duplicates", 'D'},
                              CommandOption{"endtime", 'E', value},
                              CommandOption{"env-vars", 0, nothing, true},
                              CommandOption{"expand-patterns", 0},
                              CommandOption{"federation", 0},
                              CommandOption{"file", 'f', value, true},
                              CommandOption{"format", 'o', value},
                              CommandOption{"gid", 'g', value, true},
                              CommandOption{"group", 0, value, true},
                              CommandOption{"help", 'h'},
                              CommandOption{"helpformat", 'e'},
                              CommandOption{"jobs", 'j', value},
                              CommandOption{"json", 0, maybe_value},
                              CommandOption{"local", 0},
                              CommandOption{"long", 'l'},
                              CommandOption{"name", 0, value},
                              CommandOption{"ncpus", 'I', value, true},
                              CommandOption{"nnodes", 'i', value, true},
                              CommandOption{"noconvert", 0},
                              CommandOption{"nodelist", 'N', value},
                              CommandOption{"noheader", 'n'},
                              CommandOption{"parsable", 'p'},
                              CommandOption{"parsable2", 'P'},
                              CommandOption{"partition", 'r', value},
                              CommandOption{"qos", 'q', value},
                              CommandOption{"starttime", 'S', value},
                              CommandOption{"state", 's', value},
                              CommandOption{"timelimit-max", 'K', value, true},
                              CommandOption{"timelimit-min", 'k', value, true},
                              CommandOption{"truncate", 'T'},
                              CommandOption{"uid", 0, value},
                              CommandOption{"units", 0, value, true},
                              CommandOption{"usage", 'U'},
                              CommandOption{"user", 'u', value},
                              CommandOption{"verbose", 'v'},
                              CommandOption{"version", 'V'},
                              CommandOption{"wckeys", 'W', value, true},
                              CommandOption{"whole-hetjob", 0, maybe_value, true},
                              CommandOption{"yaml", 0, maybe_value, true}};

constexpr std::string_view kUsage =
    "Usage: sacct [-aDeblLnpPTVX] [-A accounts] [-E end] [-j jobs] [-N nodes] [-o format] [-r "
    "partitions] [-s "
    "states]\n"
    "             [-S start] [-u users] [--name names] [--delimiter text] [--json] [--noconvert]\n";

void add_state(HistoryQuery& query, JobState state) {
  const Phase phase = phases_of(state).front();
  query.waiting |= phase == Phase::waiting;
  query.running |= phase == Phase::placed || phase == Phase::running || phase == Phase::ending;
  for (int i = 1; phase == Phase::ended && !word(static_cast<Cause>(i)).empty(); ++i) {
    const auto cause = static_cast<Cause>(i);
    if (job_state(Phase::ended, cause) == state) query.ended_as.push_back(cause);
  }
}

Status set_window(const Call& call, const Chosen& chosen, HistoryQuery& query) {
  const auto when = [&](std::string_view option, const std::string& text) -> Result<Instant> {
    const auto at = parse_when(text, call.now, call.zone, Lean::back);
    if (!at) {
      return Error{Errc::denied,
                   error_line(call.program, "Invalid --" + std::string(option) + ": " + at.error().message)};
    }
    return Instant(seconds(at.value()));
  };
  const bool by_state = query.waiting || query.running || !query.ended_as.empty();
  if (chosen.has("starttime")) {
    query.since = TRY(when("starttime", chosen.get("starttime")));
  } else if (query.jobs.empty()) {
    query.since = TRY(when("starttime", by_state ? "now" : "00:00"));
  }
  if (chosen.has("endtime")) query.until = TRY(when("endtime", chosen.get("endtime")));
  if (query.since && query.until && *query.until < *query.since) {
    const TimeFormat times = call.time_format();
    return Error{Errc::denied, error_line(call.program, "Start time (" + times.print(time_of(*query.since)) +
                                                            ") requested is after end time (" +
                                                            times.print(time_of(*query.until)) + ").")};
  }
  return Done{};
}

// What -j names, steps and all.
Result<std::vector<slurm::JobRef>> named_jobs(const Call& call, const Chosen& chosen) {
  std::vector<slurm::JobRef> named;
  for (const std::string& words : chosen.all_jobs) {
    auto refs = parse_job_refs(words);
    if (!refs) return Error{Errc::denied, error_line(call.program, refs.error().message)};
    std::ranges::move(refs.value(), std::back_inserter(named));
  }
  return named;
}

Result<HistoryQuery> wanted_rows(const Call& call, const Chosen& chosen, const std::vector<slurm::JobRef>& named) {
  HistoryQuery query;
  for (const slurm::JobRef& ref : named) query.jobs.push_back(domain_ref(JobId(ref.job), ref.tasks));
  const std::string users = chosen.has("user") ? chosen.get("user") : chosen.get("uid");
  for (const std::string& word : list_of(users)) {
    const auto name = call.user_name(word);
    if (!name) return Error{Errc::denied, error_line(call.program, "Invalid user id: " + printable(word))};
    query.users.push_back(*name);
  }
  if (users.empty() && call.uid != 0 && !chosen.has("allusers") && query.jobs.empty()) query.users = {call.user};
  query.names = list_of(chosen.get("name"));
  query.accounts = list_of(chosen.get("accounts"));
  query.partitions = list_of(chosen.get("partition"));
  query.qos = list_of(chosen.get("qos"));
  if (chosen.has("nodelist")) {
    auto hosts = expand_hostlist(chosen.get("nodelist"));
    if (!hosts) return Error{Errc::denied, error_line(call.program, hosts.error().message)};
    query.nodes = std::move(hosts).value();
  }
  for (const std::string& word : list_of(chosen.get("state"))) {
    const auto state = state_of(word);
    if (!state)
      return Error{Errc::denied, error_line(call.program, "unrecognized job state value: " + printable(word))};
    add_state(query, *state);
  }
  TRY(set_window(call, chosen, query));
  query.all_attempts = chosen.has("duplicates");
  query.steps = !chosen.has("allocations");
  return query;
}

Result<AccountLayout> wanted_layout(const Call& call, const Chosen& chosen) {
  std::string format = call.variable("SACCT_FORMAT").value_or(std::string(kAccountFormat));
  if (chosen.has("brief")) format = kAccountBrief;
  if (chosen.has("long")) format = kAccountLong;
  if (chosen.has("format")) format = chosen.get("format");
  AccountLayout layout{.columns = TRY(account_columns(format))};
  if (chosen.has("parsable")) layout.separation = Separation::bars_closed;
  if (chosen.has("parsable2")) layout.separation = Separation::bars;
  if (chosen.has("delimiter")) layout.delimiter = chosen.get("delimiter");
  return layout;
}

// -T: what lies outside the window isn't counted.
void cut_to_window(std::vector<HistoryRow>& rows, const HistoryQuery& query) {
  for (HistoryRow& row : rows) {
    if (query.since && row.started != Instant{} && row.started < *query.since) row.started = *query.since;
    if (query.until && row.ended > *query.until) row.ended = *query.until;
  }
}

// -j 17.0 shows that step alone, -j 17.batch the script.
void keep_named_steps(const std::vector<slurm::JobRef>& named, std::vector<AccountRow>& rows) {
  std::map<JobId, std::set<std::string>> steps;  // "" the whole job
  for (const slurm::JobRef& ref : named) steps[JobId(ref.job)].insert(ref.step);
  std::erase_if(rows, [&](const AccountRow& row) {
    auto wanted = steps.find(row.job->job);
    if (wanted == steps.end()) wanted = steps.find(row.job->array);
    if (wanted == steps.end() || wanted->second.contains("")) return false;
    const std::string own = row.step != nullptr ? std::to_string(row.step->number) : row.batch_step ? "batch" : "";
    return !wanted->second.contains(own);
  });
}

}  // namespace

int sacct(Call& call) {
  const auto options = choose(call, kOptions);
  if (!options) return call.fail(options.error());
  const Chosen& chosen = options.value();
  if (chosen.has("version") || chosen.has("help") || chosen.has("usage") || chosen.has("helpformat")) {
    call.out += chosen.has("version")      ? std::string(kVersionLine)
                : chosen.has("helpformat") ? account_help_format()
                                           : std::string(kUsage);
    return 0;
  }
  const auto layout = wanted_layout(call, chosen);
  if (!layout) return call.fail(layout.error());
  const auto named = named_jobs(call, chosen);
  if (!named) return call.fail(named.error());
  const auto query = wanted_rows(call, chosen, named.value());
  if (!query) return call.fail(query.error());
  if (const auto known = check_cluster(call, chosen.get("clusters")); !known) return call.fail(known.error());
  auto overview = call.controller->overview();
  if (!overview) return call.fail(not_reached("sacct", overview.error()));
  auto history = call.controller->history(query.value());
  if (!history) return call.fail(not_reached("sacct", history.error()));
  if (chosen.has("truncate")) cut_to_window(history.value(), query.value());
  const AccountLook look{
      .look = {.times = call.time_format(), .now = overview.value().now, .convert = !chosen.has("noconvert")},
      .cluster = overview.value().config.settings.cluster_name};
  auto rows = account_rows(history.value(), !chosen.has("allocations"));
  keep_named_steps(named.value(), rows);
  call.out += chosen.has("json") ? account_json(rows, look)
                                 : account_table(layout.value(), rows, look, !chosen.has("noheader"));
  return 0;
}

}  // namespace drover::slurm
