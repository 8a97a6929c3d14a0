// scontrol show.
#include <algorithm>
#include <cstddef>
#include <map>

#include "base/text.h"
#include "slurm/command/scontrol.h"
#include "slurm/exit.h"
#include "slurm/render/job_json.h"
#include "slurm/render/node_json.h"
#include "slurm/script/hostlist.h"
#include "slurm/script/jobid.h"

namespace drover::slurm {
namespace {

// "job" of "jobs", "job=12" and "job 12"; the argument is what follows.
struct Subject {
  std::string kind;
  std::optional<std::string> argument;
};
Subject subject_of(const std::vector<std::string>& words) {
  Subject subject;
  const std::size_t equals = words.front().find('=');
  subject.kind = lower(words.front().substr(0, equals));
  if (equals != std::string::npos) {
    subject.argument = words.front().substr(equals + 1);
  } else if (words.size() > 1) {
    subject.argument = words[1];
  }
  return subject;
}

bool is(const Subject& subject, std::string_view name, std::size_t least) {
  return subject.kind.size() >= least && name.starts_with(subject.kind);
}

// Offline: no controller is asked.
int show_hosts(Call& call, const Subject& subject) {
  std::optional<std::string> list = subject.argument;
  if (!list) list = call.variable("SLURM_JOB_NODELIST");
  if (!list) list = call.variable("SLURM_NODELIST");
  if (!list || list->empty()) return call.fail("a list of hosts is missing, and SLURM_JOB_NODELIST isn't set");
  const auto hosts = expand_hostlist(*list);
  if (!hosts) return call.fail("Invalid hostlist: " + hosts.error().message);
  if (subject.kind.starts_with("hostname")) {
    for (const std::string& host : hosts.value()) call.out += host + "\n";
    return 0;
  }
  call.out +=
      (subject.kind == "hostlistsorted" ? compress_sorted(hosts.value()) : compress_hostlist(hosts.value())) + "\n";
  return 0;
}

int show_jobs(ControlCall& control, const Subject& subject) {
  Call& call = control.call;
  api::JobQuery query{.fields = api::job_view_fields()};
  const Error unknown{Errc::not_found, "slurm_load_jobs error: Invalid job id specified"};
  if (subject.argument) {
    auto refs = domain_refs(*subject.argument);
    if (!refs) return call.fail(unknown);
    query.select.jobs = std::move(refs).value();
  }
  std::vector<api::JobView> jobs;
  const auto header = call.controller->jobs(query, [&jobs](api::JobView& job) { jobs.push_back(std::move(job)); });
  if (!header) return call.fail(not_reached("slurm_load_jobs", header.error()));
  const Look look{.times = call.time_format(), .now = header.value().now};
  if (jobs.empty() && subject.argument) return call.fail(unknown);
  sort_as_listed(jobs);
  if (control.json) {
    call.out += jobs_json(jobs, look);
    return 0;
  }
  if (jobs.empty()) {
    call.out += "No jobs in the system\n";
    return 0;
  }
  for (const api::JobView& job : jobs) call.out += show_job(job, look, control.style);
  return 0;
}

// The running steps of jobs, their scripts first; of `only` the one step that it names.
Result<std::string> steps_text(ControlCall& control, const std::vector<api::JobView>& jobs, const Look& look,
                               const std::string& only) {
  std::map<JobId, std::vector<api::StepView>> steps;
  api::StepQuery query;
  for (const api::JobView& job : jobs) query.jobs.push_back({.job = job.id});
  if (!jobs.empty()) {
    TRY(control.call.controller->steps(query, [&](api::StepView& step) {
      if (step.phase != StepPhase::ended) steps[step.job].push_back(std::move(step));
    }));
  }
  std::string text;
  for (const api::JobView& job : jobs) {
    if (job.phase != Phase::running) continue;
    if (!job.allocation && (only.empty() || only == "batch")) text += show_step(job, look, control.style);
    for (const api::StepView& step : steps[job.id]) {
      if (only.empty() || only == std::to_string(step.number)) text += show_step(job, step, look, control.style);
    }
  }
  return text;
}

int show_steps(ControlCall& control, const Subject& subject) {
  Call& call = control.call;
  api::JobQuery query{.fields = api::job_view_fields()};
  const Error unknown{Errc::not_found, "slurm_get_job_steps error: Invalid job id specified"};
  std::string only;
  if (subject.argument) {
    const auto ref = parse_job_ref(*subject.argument);
    if (!ref) return call.fail(unknown);
    query.select.jobs = {domain_ref(JobId(ref->job), ref->tasks)};
    only = ref->step;
  }
  std::vector<api::JobView> jobs;
  const auto header = call.controller->jobs(query, [&jobs](api::JobView& job) { jobs.push_back(std::move(job)); });
  if (!header) return call.fail(not_reached("slurm_get_job_steps", header.error()));
  sort_as_listed(jobs);
  const auto text = steps_text(control, jobs, {.times = call.time_format(), .now = header.value().now}, only);
  if (!text) return call.fail(not_reached("slurm_get_job_steps", text.error()));
  if (text->empty() && subject.argument) return call.fail(unknown);
  call.out += text->empty() ? "No job steps in the system\n" : *text;
  return 0;
}

int show_nodes(ControlCall& control, const Subject& subject) {
  Call& call = control.call;
  std::vector<std::string> names;
  if (subject.argument) {
    auto hosts = expand_hostlist(*subject.argument);
    if (!hosts) return call.fail("Invalid node list: " + hosts.error().message);
    names = std::move(hosts).value();
  }
  std::vector<api::NodeView> nodes;
  const auto header = call.controller->nodes([&nodes](api::NodeView& node) { nodes.push_back(std::move(node)); });
  if (!header) return call.fail(not_reached("slurm_load_node", header.error()));
  const Look look{.times = call.time_format(), .now = header.value().now};
  int status = 0;
  std::vector<api::NodeView> chosen;
  if (!subject.argument) chosen = std::move(nodes);
  for (const std::string& name : names) {
    const auto found =
        std::ranges::find_if(nodes, [&](const api::NodeView& node) { return node.node.name() == name; });
    if (found != nodes.end()) {
      chosen.push_back(*found);
      if (!control.json) call.out += show_node(*found, look, control.style);
      continue;
    }
    (control.json ? call.err : call.out) += "Node " + printable(name) + " not found\n";
    status = 1;
  }
  if (control.json) {
    call.out += nodes_json(chosen, look);
  } else if (!subject.argument) {
    for (const api::NodeView& node : chosen) call.out += show_node(node, look, control.style);
  }
  return status;
}

int show_partitions(ControlCall& control, const Subject& subject) {
  Call& call = control.call;
  std::vector<api::PartitionView> chosen;
  const auto header = call.controller->partitions([&](api::PartitionView& partition) {
    if (!subject.argument || partition.partition.name == *subject.argument) chosen.push_back(std::move(partition));
  });
  if (!header) return call.fail(not_reached("slurm_load_partitions", header.error()));
  if (control.json) {
    call.out += partitions_json(chosen, {.times = call.time_format(), .now = header.value().now});
  } else {
    for (const api::PartitionView& partition : chosen) call.out += show_partition(partition, control.style);
  }
  if (!chosen.empty() || !subject.argument) return 0;
  (control.json ? call.err : call.out) += "Partition " + printable(*subject.argument) + " not found\n";
  return 1;
}

int show_configuration(Call& call) {
  auto overview = call.controller->overview();
  if (!overview) return call.fail(not_reached("slurm_load_ctl_conf", overview.error()));
  call.out += show_config(overview.value(), {.times = call.time_format(), .now = overview.value().now});
  return 0;
}

}  // namespace

int control_list_jobs(ControlCall& control) {
  Call& call = control.call;
  // Which node this is, its agent tells its jobs; the name of the host is the next best.
  const std::string node =
      control.words.empty() ? call.variable("SLURMD_NODENAME").value_or(call.host) : control.words.front();
  api::JobQuery query;
  query.select.nodes = {node};
  query.select.phases = {Phase::placed, Phase::running, Phase::ending};
  std::vector<JobId> jobs;
  const auto header = call.controller->jobs(query, [&jobs](api::JobView& job) { jobs.push_back(job.id); });
  if (!header) return call.fail(not_reached("scontrol", header.error()));
  std::ranges::sort(jobs);
  if (control.json) {
    call.out += job_ids_json(jobs);
    return 0;
  }
  if (jobs.empty()) {
    call.err += "No slurmstepd's found on this node\n";
    return 1;
  }
  call.out += "JOBID\n";
  for (const JobId job : jobs) call.out += std::to_string(job.value()) + "\n";
  return 0;
}

int control_show(ControlCall& control) {
  Call& call = control.call;
  if (control.words.empty()) return call.fail("too few arguments for keyword:show");
  const Subject subject = subject_of(control.words);
  const bool as_json = is(subject, "jobs", 1) || is(subject, "nodes", 1) || is(subject, "partitions", 1);
  if (control.json && !as_json) {
    return call.fail("--json is known of job, node and partition, not of " + printable(subject.kind) + ": remove it");
  }
  if (is(subject, "hostnames", 5) || is(subject, "hostlistsorted", 5)) return show_hosts(call, subject);
  if (is(subject, "jobs", 1)) return show_jobs(control, subject);
  if (is(subject, "steps", 3)) return show_steps(control, subject);
  if (is(subject, "nodes", 1)) return show_nodes(control, subject);
  if (is(subject, "partitions", 1)) return show_partitions(control, subject);
  if (is(subject, "config", 3)) return show_configuration(call);
  if (is(subject, "reservations", 3)) {
    if (subject.argument)
      return call.fail(Error{Errc::not_found, "Reservation " + printable(*subject.argument) + " not found"});
    call.out += "No reservations in the system\n";
    return 0;
  }
  if (is(subject, "licenses", 3)) {
    call.out += "No licenses configured in Slurm.\n";
    return 0;
  }
  return call.fail("invalid entity: " + printable(subject.kind) + " for keyword:show");
}

}  // namespace drover::slurm
