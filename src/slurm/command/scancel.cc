// scancel: ends jobs, or signals them.
#include <algorithm>
#include <array>
#include <csignal>
#include <set>

#include "base/text.h"
#include "slurm/command/call.h"
#include "slurm/exit.h"
#include "slurm/render/words.h"
#include "slurm/script/hostlist.h"
#include "slurm/script/jobid.h"
#include "slurm/script/signal.h"

namespace drover::slurm {
namespace {

using enum Takes;
constexpr std::array kOptions{CommandOption{"account", 'A', value},
                              CommandOption{"batch", 'b'},
                              CommandOption{"clusters", 'M', value},
                              CommandOption{"ctld", 'c'},
                              CommandOption{"full", 'f'},
                              CommandOption{"help", 0},
                              CommandOption{"hurry", 'H', nothing, true},
                              CommandOption{"interactive", 'i', nothing, true},
                              CommandOption{"jobname", 0, value},
                              CommandOption{"me", 0},
                              CommandOption{"name", 'n', value},
                              CommandOption{"nodelist", 'w', value},
                              CommandOption{"partition", 'p', value},
                              CommandOption{"qos", 'q', value},
                              CommandOption{"quiet", 'Q'},
                              CommandOption{"reservation", 'R', value, true},
                              CommandOption{"sibling", 0, value, true},
                              CommandOption{"signal", 's', value},
                              CommandOption{"state", 't', value},
                              CommandOption{"usage", 0},
                              CommandOption{"user", 'u', value},
                              CommandOption{"verbose", 'v'},
                              CommandOption{"version", 'V'},
                              CommandOption{"wckey", 0, value, true}};

constexpr std::string_view kUsage =
    "Usage: scancel [-A account] [-n name] [-p partition] [-q qos] [-s signal] [-t state] [-u user] [-w hosts]\n"
    "               [-bfQv] [--me] [job_id[_task] ...]\n";

// "17.0": the one step that a word names; nothing for a job.
std::optional<std::pair<JobId, std::uint32_t>> step_named(const std::string& word) {
  const auto ref = parse_job_ref(word);
  if (!ref || !ref->tasks.empty() || ref->component) return std::nullopt;
  const auto number = parse_uint(ref->step);
  if (!number || *number >= kBatchStep) return std::nullopt;
  return std::pair(JobId(ref->job), static_cast<std::uint32_t>(*number));
}

// Ends or signals the steps among the words; the exit status.
int cancel_steps(Call& call, const Chosen& chosen, std::optional<int> signal) {
  int status = 0;
  for (const std::string& word : chosen.rest) {
    const auto step = step_named(word);
    if (!step) continue;
    api::Execute wish;
    wish.command = EndStep{.job = step->first, .step = step->second};
    if (signal && *signal != SIGKILL) {
      wish.command = SignalStep{
          .job = step->first, .step = step->second, .signal = static_cast<std::uint32_t>(*signal)};
    }
    const auto answer = call.controller->execute(wish);
    if (!answer) return call.fail(not_reached("scancel", answer.error()));
    const auto* refusal = std::get_if<Refusal>(&answer.value());
    if (refusal == nullptr) continue;
    const bool gone = refusal->code == RefusalCode::unknown_job || refusal->code == RefusalCode::already_ended;
    if (gone && !chosen.has("verbose")) continue;
    status = gone ? status : 1;
    if (chosen.has("quiet")) continue;
    call.err += error_line(call.program, "Kill job error on job step id " + printable(word) + ": " +
                                             std::string(refusal_words(refusal->code))) +
                "\n";
  }
  return status;
}

Result<JobSelector> selected(Call& call, const Chosen& chosen) {
  JobSelector select;
  for (const std::string& word : chosen.rest) {
    if (step_named(word)) continue;
    auto refs = domain_refs(word);
    if (!refs) return Error{Errc::denied, error_line(call.program, "Invalid job id " + printable(word))};
    select.jobs.insert(select.jobs.end(), refs.value().begin(), refs.value().end());
  }
  if (chosen.has("me")) select.users = {call.user};
  for (const std::string& word : list_of(chosen.get("user"))) {
    const auto name = call.user_name(word);
    if (!name) return Error{Errc::denied, error_line(call.program, "Invalid user name: " + printable(word))};
    select.users.push_back(*name);
  }
  select.names = list_of(chosen.has("name") ? chosen.get("name") : chosen.get("jobname"));
  select.partitions = list_of(chosen.get("partition"));
  select.accounts = list_of(chosen.get("account"));
  select.qos = list_of(chosen.get("qos"));
  if (chosen.has("nodelist")) {
    auto hosts = expand_hostlist(chosen.get("nodelist"));
    if (!hosts) return Error{Errc::denied, error_line(call.program, hosts.error().message)};
    select.nodes = std::move(hosts).value();
  }
  std::set<Phase> phases;
  for (const std::string& word : list_of(chosen.get("state"))) {
    const auto state = state_of(word);
    if (!state) return Error{Errc::denied, error_line(call.program, "Invalid job state: " + printable(word))};
    for (const Phase phase : phases_of(*state)) phases.insert(phase);
  }
  select.phases.assign(phases.begin(), phases.end());
  return select;
}

bool nothing_selected(const JobSelector& select) {
  return select.jobs.empty() && select.users.empty() && select.names.empty() && select.partitions.empty() &&
         select.accounts.empty() && select.qos.empty() && select.nodes.empty() && select.phases.empty();
}

// Jobs that are gone already are what was wanted.
bool is_silent(RefusalCode code) { return code == RefusalCode::unknown_job || code == RefusalCode::already_ended; }

}  // namespace

int scancel(Call& call) {
  const auto options = choose(call, kOptions);
  if (!options) return call.fail(options.error());
  const Chosen& chosen = options.value();
  if (chosen.has("version") || chosen.has("help") || chosen.has("usage")) {
    call.out += chosen.has("version") ? kVersionLine : kUsage;
    return 0;
  }
  auto select = selected(call, chosen);
  if (!select) return call.fail(select.error());
  const auto is_step = [](const std::string& word) { return step_named(word).has_value(); };
  const bool steps = std::ranges::any_of(chosen.rest, is_step);
  if (steps) {
    const auto number = chosen.has("signal") ? signal_number(chosen.get("signal")) : std::nullopt;
    if (chosen.has("signal") && !number) return call.fail("Unknown job signal: " + printable(chosen.get("signal")));
    const int status = cancel_steps(call, chosen, number);
    if (status != 0 || select.value().jobs.empty()) return status;
  }
  if (nothing_selected(select.value())) return call.fail("No job identification provided");
  if (const auto known = check_cluster(call, chosen.get("clusters")); !known) return call.fail(known.error());

  api::Execute wish;
  wish.command = Cancel{.jobs = select.value()};
  if (chosen.has("signal") || chosen.has("batch")) {
    const auto number = chosen.has("signal") ? signal_number(chosen.get("signal")) : std::optional<int>(9);
    if (!number) return call.fail("Unknown job signal: " + printable(chosen.get("signal")));
    const SignalTarget target = chosen.has("full")    ? SignalTarget::all
                                : chosen.has("batch") ? SignalTarget::batch
                                                      : SignalTarget::steps;
    const bool plain_kill = *number == 9 && target == SignalTarget::steps;
    if (!plain_kill) {
      wish.command =
          Signal{.jobs = std::move(select).value(), .signal = static_cast<std::uint32_t>(*number), .target = target};
    }
  }
  const auto answer = call.controller->execute(wish);
  if (!answer) return call.fail(not_reached("scancel", answer.error()));
  if (const auto* refusal = std::get_if<Refusal>(&answer.value())) {
    if (is_silent(refusal->code)) return 0;
    return call.fail(std::string("Kill job error: ") + std::string(refusal_words(refusal->code)));
  }
  int status = 0;
  for (const JobRefusal& refused : std::get<Reply>(answer.value()).refusals) {
    if (is_silent(refused.refusal.code) && !chosen.has("verbose")) continue;
    status = is_silent(refused.refusal.code) ? status : 1;
    if (chosen.has("quiet")) continue;
    call.err += error_line(call.program, "Kill job error on job id " + ref_text(refused.job) + ": " +
                                             std::string(refusal_words(refused.refusal.code))) +
                "\n";
  }
  return status;
}

}  // namespace drover::slurm
