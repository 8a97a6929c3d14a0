// scontrol: shows and changes jobs, nodes and partitions.
#include "slurm/command/scontrol.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "slurm/exit.h"
#include "slurm/render/words.h"

namespace drover::slurm {
namespace {

using enum Takes;
constexpr std::array kOptions{CommandOption{"all", 'a'},
                              CommandOption{"cluster", 0, value},
                              CommandOption{"clusters", 'M', value},
                              CommandOption{"details", 'd'},
                              CommandOption{"future", 'F'},
                              CommandOption{"help", 'h'},
                              CommandOption{"hide", 0},
                              CommandOption{"json", 0, maybe_value},
                              CommandOption{"local", 0},
                              CommandOption{"oneliner", 'o'},
                              CommandOption{"quiet", 'Q'},
                              CommandOption{"uid", 'u', value, true},
                              CommandOption{"verbose", 'v'},
                              CommandOption{"version", 'V'},
                              CommandOption{"yaml", 0, maybe_value, true}};

constexpr std::string_view kUsage =
    "Usage: scontrol [-adoQvV] [--json] COMMAND\n"
    "  show job [ID] | node [NAMES] | partition [NAME] | step ID | config | hostnames [LIST] | "
    "hostlist NAMES\n"
    "       | hostlistsorted NAMES\n"
    "  hold|uhold|release|requeue|requeuehold JOBS\n"
    "  update NodeName=NAMES State=DRAIN|RESUME|DOWN [Reason=TEXT]\n"
    "  update PartitionName=NAME State=UP|DOWN\n"
    "  update JobId=ID "
    "[TimeLimit=|Priority=|Nice=|Partition=|JobName=|StartTime=|ArrayTaskThrottle=|Requeue=]\n"
    "  write batch_script ID [FILE]\n"
    "  listjobs [NODE]\n"
    "  ping | version\n";

int ping(Call& call) {
  auto overview = call.controller->overview();
  if (!overview) {
    call.out += "Slurmctld(primary) at " + call.host + " is DOWN\n";
    return 1;
  }
  call.out += "Slurmctld(primary) at " + overview.value().host + " is UP\n";
  return 0;
}

int write_script(Call& call, const std::vector<std::string>& words) {
  if (words.size() < 2 || !iequals(words[0], "batch_script"))
    return call.fail("write needs: batch_script JOB [FILE]");
  const auto refs = domain_refs(words[1]);
  if (!refs || refs.value().size() != 1) return call.fail("Invalid job id specified");
  const auto script = call.controller->script(refs.value().front().job);
  if (!script) {
    if (script.error().code == Errc::unavailable) return call.fail(not_reached("scontrol", script.error()));
    return call.fail(Error{Errc::not_found, "job script retrieval failed: Invalid job id specified"});
  }
  const std::string file = words.size() > 2 ? words[2] : "slurm-" + words[1] + ".sh";
  if (file == "-") {
    call.out += script.value();
    return 0;
  }
  if (const auto written = call.write_file(file, script.value()); !written) return call.fail(written.error().message);
  call.out += "batch script for job " + words[1] + " written to " + file + "\n";
  return 0;
}

// hold, release, requeue and their kin: lists of jobs, also in several words.
int job_verb(Call& call, std::string_view verb, const std::vector<std::string>& words) {
  if (words.empty()) return call.fail("too few arguments for keyword:" + std::string(verb));
  JobSelector jobs;
  for (std::string_view word : words) {
    if (iequals(word.substr(0, 5), "name=")) {
      jobs.names.emplace_back(word.substr(5));
      continue;
    }
    if (iequals(word.substr(0, 6), "jobid=")) word.remove_prefix(6);
    auto refs = domain_refs(word);
    if (!refs)
      return call.fail(Error{Errc::not_found, "Invalid job id specified for job " + printable(word) +
                                                  "\nslurm_suspend error:Invalid job id specified"});
    jobs.jobs.insert(jobs.jobs.end(), refs.value().begin(), refs.value().end());
  }
  if (verb == "hold") return control_wish(call, SetHold{.jobs = jobs, .hold = true, .as_user = call.uid != 0});
  if (verb == "uhold") return control_wish(call, SetHold{.jobs = jobs, .hold = true, .as_user = true});
  if (verb == "release") return control_wish(call, SetHold{.jobs = jobs, .hold = false});
  return control_wish(call, Requeue{.jobs = jobs, .hold = verb == "requeuehold"});
}

}  // namespace

int control_wish(Call& call, const Command& command) {
  api::Execute wish;
  wish.command = command;
  const auto answer = call.controller->execute(wish);
  if (!answer) return call.fail(not_reached("scontrol", answer.error()));
  const auto say = [&call](const std::string& job, const Refusal& refusal) {
    const std::string words(refusal_words(refusal.code));
    if (!job.empty()) call.err += words + " for job " + job + "\n";
    return words;
  };
  std::string last;
  if (const auto* refusal = std::get_if<Refusal>(&answer.value())) {
    last = say(refusal->code == RefusalCode::unknown_job ? refusal->subject : "", *refusal);
    const std::string hint = refusal_hint(*refusal);
    if (!hint.empty() && refusal->code != RefusalCode::unknown_job) last += "\nscontrol: error: " + hint;
  } else {
    for (const JobRefusal& refused : std::get<Reply>(answer.value()).refusals)
      last = say(ref_text(refused.job), refused.refusal);
  }
  if (last.empty()) return 0;
  const bool of_jobs = !std::holds_alternative<UpdateNode>(command) &&
                       !std::holds_alternative<UpdatePartition>(command) &&
                       !std::holds_alternative<ModifyJob>(command);
  call.err += std::string(of_jobs ? "slurm_suspend error:" : "slurm_update error: ") + last + "\n";
  return 1;
}

int scontrol(Call& call) {
  const auto options = choose(call, kOptions);
  if (!options) return call.fail(options.error());
  const Chosen& chosen = options.value();
  if (chosen.has("version") || chosen.has("help")) {
    call.out += chosen.has("version") ? kVersionLine : kUsage;
    return 0;
  }
  if (chosen.rest.empty()) return call.fail("a command is missing: see scontrol --help");
  const std::string verb = lower(chosen.rest.front());
  ControlCall control{.call = call,
                      .style = {.one_line = chosen.has("oneliner"), .details = chosen.has("details")},
                      .words = {chosen.rest.begin() + 1, chosen.rest.end()},
                      .json = chosen.has("json")};
  if (control.json && verb != "show" && verb != "listjobs")
    return call.fail("--json is no option of '" + printable(verb) + "': remove it");
  if (verb == "show") return control_show(control);
  if (const auto known = check_cluster(call, chosen.get("clusters")); !known) return call.fail(known.error());
  if (verb == "update") return control_update(control);
  if (verb == "ping") return ping(call);
  if (verb == "listjobs") return control_list_jobs(control);
  if (verb == "write") return write_script(call, control.words);
  if (verb == "version") {
    call.out += kVersionLine;
    return 0;
  }
  for (const char* known : {"hold", "uhold", "release", "requeue", "requeuehold"}) {
    if (verb == known) return job_verb(call, verb, control.words);
  }
  for (const char* later : {"create", "delete", "reconfigure", "reboot", "token", "listpids", "pidinfo", "suspend",
                            "resume", "top", "notify", "shutdown", "takeover", "cancel_reboot", "setdebug"}) {
    if (verb == later) return call.fail("'" + verb + "' is not supported by drover yet");
  }
  return call.fail("invalid keyword: " + printable(verb));
}

}  // namespace drover::slurm
