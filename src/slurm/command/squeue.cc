// squeue: jobs that wait, run and ended lately.
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/text.h"
#include "slurm/command/call.h"
#include "slurm/exit.h"
#include "slurm/render/job_json.h"
#include "slurm/render/queue.h"
#include "slurm/script/hostlist.h"

namespace drover::slurm {
namespace {

using enum Takes;
constexpr std::array kOptions{CommandOption{"account", 'A', value},
                              CommandOption{"all", 'a'},
                              CommandOption{"array", 'r'},
                              CommandOption{"array-unique", 0},
                              CommandOption{"clusters", 'M', value},
                              CommandOption{"federation", 0},
                              CommandOption{"format", 'o', value},
                              CommandOption{"Format", 'O', value},
                              CommandOption{"help", 0},
                              CommandOption{"hide", 0},
                              CommandOption{"iterate", 'i', value, true},
                              CommandOption{"jobs", 'j', value},
                              CommandOption{"json", 0, maybe_value},
                              CommandOption{"licenses", 'L', value, true},
                              CommandOption{"local", 0},
                              CommandOption{"long", 'l'},
                              CommandOption{"me", 0},
                              CommandOption{"name", 'n', value},
                              CommandOption{"noconvert", 0},
                              CommandOption{"nodelist", 'w', value},
                              CommandOption{"noheader", 'h'},
                              CommandOption{"only-job-state", 0},
                              CommandOption{"partition", 'p', value},
                              CommandOption{"priority", 'P', nothing, true},
                              CommandOption{"qos", 'q', value},
                              CommandOption{"reservation", 'R', value, true},
                              CommandOption{"running-over", 0, value, true},
                              CommandOption{"running-under", 0, value, true},
                              CommandOption{"sibling", 0, nothing, true},
                              CommandOption{"sort", 'S', value},
                              CommandOption{"start", 0},
                              CommandOption{"states", 't', value},
                              CommandOption{"steps", 's', maybe_value},
                              CommandOption{"usage", 0},
                              CommandOption{"user", 'u', value},
                              CommandOption{"verbose", 'v'},
                              CommandOption{"version", 'V'},
                              CommandOption{"yaml", 0, maybe_value, true}};

constexpr std::string_view kUsage =
    "Usage: squeue [-A account] [-j jobs] [-n names] [-o format] [-O fields] [-p partitions] [-q qos] [-S sort]\n"
    "              [-t states] [-u users] [-w hosts] [-ahlrsV] [--me] [--start] [--json] [--noconvert]\n";

std::string setting(const Call& call, const Chosen& chosen, std::string_view option, std::string_view variable) {
  return chosen.has(option) ? chosen.get(option) : call.variable(variable).value_or("");
}

// -u: names or numbers; those that don't exist are said and passed over.
std::vector<std::string> users(Call& call, const Chosen& chosen) {
  std::vector<std::string> names;
  if (chosen.has("me")) return {call.user};
  for (const std::string& word : list_of(setting(call, chosen, "user", "SQUEUE_USERS"))) {
    const auto name = call.user_name(word);
    if (name) {
      names.push_back(*name);
    } else {
      call.err += error_line(call.program, "Invalid user: " + printable(word)) + "\n\n";
    }
  }
  return names;
}

struct Wanted {
  api::JobQuery query;
  std::set<JobState> states;  // empty: all
  bool nobody = false;        // users were named and none exists
};

Result<Wanted> wanted_jobs(Call& call, const Chosen& chosen) {
  Wanted wanted;
  JobSelector& select = wanted.query.select;
  for (const std::string& words : chosen.all_jobs) {
    auto refs = domain_refs(words);
    if (!refs) return Error{Errc::denied, error_line(call.program, printable(refs.error().message))};
    select.jobs.insert(select.jobs.end(), refs.value().begin(), refs.value().end());
  }
  select.users = users(call, chosen);
  wanted.nobody = select.users.empty() && !setting(call, chosen, "user", "SQUEUE_USERS").empty();
  select.names = list_of(setting(call, chosen, "name", "SQUEUE_NAMES"));
  select.partitions = list_of(setting(call, chosen, "partition", "SQUEUE_PARTITION"));
  select.accounts = list_of(setting(call, chosen, "account", "SQUEUE_ACCOUNT"));
  select.qos = list_of(setting(call, chosen, "qos", "SQUEUE_QOS"));
  if (chosen.has("nodelist")) {
    auto hosts = expand_hostlist(chosen.get("nodelist"));
    if (!hosts) return Error{Errc::denied, error_line(call.program, hosts.error().message)};
    select.nodes = std::move(hosts).value();
  }
  const std::string states = setting(call, chosen, "states", "SQUEUE_STATES");
  if (iequals(states, "all")) return wanted;
  for (const std::string& word : list_of(states)) {
    const auto state = state_of(word);
    if (!state)
      return Error{Errc::denied, error_line(call.program, "Invalid job state specified: " + printable(word))};
    wanted.states.insert(*state);
  }
  if (states.empty())
    wanted.states = {JobState::pending, JobState::configuring, JobState::running, JobState::completing};
  // An array's place in the list hangs on tasks that --start doesn't show.
  std::set<Phase> phases;
  for (const JobState state : wanted.states) {
    for (const Phase phase : phases_of(state)) phases.insert(phase);
  }
  select.phases.assign(phases.begin(), phases.end());
  return wanted;
}

Result<Layout> wanted_layout(const Call& call, const Chosen& chosen) {
  if (chosen.has("Format")) return parse_names(chosen.get("Format"), job_field_by_name, call.program);
  if (chosen.has("format")) return job_layout(chosen.get("format"));
  if (chosen.has("start")) return job_layout(kQueueStart);
  if (chosen.has("long")) return job_layout(kQueueLong);
  if (const auto names = call.variable("SQUEUE_FORMAT2")) return parse_names(*names, job_field_by_name, call.program);
  return job_layout(call.variable("SQUEUE_FORMAT").value_or(std::string(kQueueFormat)));
}

constexpr std::size_t kPiece = std::size_t{64} << 10U;  // of output

int show_steps(Call& call, const Chosen& chosen, std::vector<api::JobView> jobs, const Look& look) {
  const Layout layout = step_layout(chosen.has("format") ? chosen.get("format") : std::string(kStepFormat));
  std::erase_if(jobs, [](const api::JobView& job) { return job.phase != Phase::running; });
  if (const auto sorted = sort_jobs(jobs, "P,i", look.now); !sorted) return call.fail(sorted.error());
  if (!chosen.has("noheader")) call.out += step_header(layout);
  std::map<JobId, std::vector<api::StepView>> steps;
  api::StepQuery query;
  if (chosen.has("jobs")) {
    for (const api::JobView& job : jobs) query.jobs.push_back({.job = job.id});
    if (jobs.empty()) return 0;
  }
  const auto header = call.controller->steps(query, [&](api::StepView& step) {
    if (step.phase != StepPhase::ended) steps[step.job].push_back(std::move(step));
  });
  if (!header) return call.fail(not_reached("slurm_load_jobs", header.error()));
  for (const api::JobView& job : jobs) {
    if (!job.allocation) call.out += step_line(layout, {.job = job}, look);
    for (const api::StepView& step : steps[job.id]) call.out += step_line(layout, {.job = job, .step = &step}, look);
  }
  return 0;
}

int show(Call& call, const Chosen& chosen, const Layout& layout, std::vector<api::JobView> jobs, const Look& look) {
  for (const std::string& complaint : layout.complaints) call.err += error_line(call.program, complaint) + "\n";
  std::string keys = setting(call, chosen, "sort", "SQUEUE_SORT");
  if (keys.empty()) keys = chosen.has("start") ? "S" : "P,t,-p";
  if (const auto sorted = sort_jobs(jobs, keys, look.now); !sorted) return call.fail(sorted.error());
  if (chosen.has("start")) std::erase_if(jobs, [](const api::JobView& job) { return job.phase != Phase::waiting; });
  if (chosen.has("long")) call.out += look.times.heading() + "\n";
  if (!chosen.has("noheader")) call.out += job_header(layout);
  const auto print = [&](const api::JobView& job) {
    add_job_line(call.out, layout, job, look);
    // Fresh memory for all of it would cost more than the rows do.
    if (call.out.size() >= kPiece && call.flush) call.flush(call);
  };
  if (chosen.has("array") || call.variable("SQUEUE_ARRAY")) {
    each_task(std::move(jobs), print);
  } else {
    std::ranges::for_each(jobs, print);
  }
  return 0;
}

}  // namespace

int squeue(Call& call) {
  const auto options = choose(call, kOptions);
  if (!options) return call.fail(options.error());
  const Chosen& chosen = options.value();
  if (chosen.has("version") || chosen.has("help") || chosen.has("usage")) {
    call.out += chosen.has("version") ? kVersionLine : kUsage;
    return 0;
  }
  if (!chosen.rest.empty()) return call.fail("Unrecognized option: " + printable(chosen.rest.front()));
  const auto layout = wanted_layout(call, chosen);
  if (!layout) return call.fail(layout.error());
  auto wanted = wanted_jobs(call, chosen);
  if (!wanted) return call.fail(wanted.error());
  if (const auto known = check_cluster(call, chosen.get("clusters")); !known) return call.fail(known.error());
  wanted.value().query.fields = view_fields(chosen.has("json") ? Reads::spec : layout_reads(layout.value()));

  std::vector<api::JobView> jobs;
  const auto& states = wanted.value().states;
  const auto header = call.controller->jobs(wanted.value().query, [&](api::JobView& job) {
    const bool shown = states.empty() || states.contains(job_state(job.phase, job.cause));
    if (shown && !wanted.value().nobody) jobs.push_back(std::move(job));
  });
  if (!header) return call.fail(not_reached("slurm_load_jobs", header.error()));
  if (wanted.value().query.select.jobs.size() == 1 && !header.value().unknown.empty()) {
    return call.fail(Error{Errc::not_found, "slurm_load_jobs error: Invalid job id specified"});
  }
  const Look look{.times = call.time_format(), .now = header.value().now, .convert = !chosen.has("noconvert")};
  if (chosen.has("json")) {
    call.out += jobs_json(jobs, look);
    return 0;
  }
  if (chosen.has("clusters")) call.out += "CLUSTER: " + chosen.get("clusters") + "\n";
  if (chosen.has("steps")) return show_steps(call, chosen, std::move(jobs), look);
  return show(call, chosen, layout.value(), std::move(jobs), look);
}

}  // namespace drover::slurm
