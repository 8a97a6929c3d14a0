#include "slurm/render/job_fields.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/text.h"
#include "slurm/script/logname.h"
#include "slurm/script/memory.h"

namespace drover::slurm {
namespace {

using Job = const api::JobView&;
using Lk = const Look&;

std::string number(std::uint64_t n) { return std::to_string(n); }
std::string null(Job, Lk) { return "(null)"; }
std::string not_available(Job, Lk) { return "N/A"; }
std::string zero(Job, Lk) { return "0"; }
std::string star(Job, Lk) { return "*"; }
std::string nothing(Job, Lk) { return ""; }

std::string limit_text(Job job, Lk) {
  return job.limit.count() == 0 ? "UNLIMITED" : short_duration(seconds_of(job.limit));
}
std::string time_left(Job job, Lk look) {
  if (job.limit.count() == 0) return "UNLIMITED";
  return short_duration(seconds_of(job.limit) - used_seconds(job, look.now));
}
std::string time_used(Job job, Lk look) { return short_duration(used_seconds(job, look.now)); }
std::string memory(Job job, Lk look) { return print_memory_mib(min_memory_mib(job), look.convert); }
std::string fraction(Job job, Lk) {
  char text[48];
  std::snprintf(text, sizeof text, "%.14f", static_cast<double>(job.priority) / 4294967296.0);
  return text;
}
std::string exec_host(Job job, Lk) { return job.nodes.empty() ? "n/a" : job.nodes.front(); }
std::string share(Job job, Lk) { return job.request.exclusive ? "NO" : "OK"; }
std::string per_node(Job job, Lk) {
  const std::string text = gpu_asks_text(job.request.gpus_per_node);
  return text.empty() ? "N/A" : text;
}
std::string per_job(Job job, Lk) {
  const std::string text = gpu_asks_text(job.request.gpus_per_job);
  return text.empty() ? "N/A" : text;
}
std::string per_task(Job job, Lk) {
  const std::string text = gpu_asks_text(job.request.gpus_per_task);
  return text.empty() ? "N/A" : text;
}
std::string tres(Job job, Lk) {
  const Tres granted = granted_tres(job);
  return print_tres(granted.nodes > 0 ? granted : asked_tres(job));
}
std::string base_id(Job job, Lk) { return number(job.array ? job.array.value() : job.id.value()); }
std::string spec_text(Job job, std::string JobSpec::*member) {
  return or_null(job.spec ? (*job.spec).*member : std::string());
}
std::string sched_nodes(Job job, Lk) { return or_null(nodes_text(job.expected_nodes)); }
std::string time_min(Job job, Lk) {
  return job.min_limit.count() == 0 ? "N/A" : short_duration(seconds_of(job.min_limit));
}
std::string requested(const std::vector<std::string>& nodes) { return nodes_text(nodes); }

constexpr std::array kFields{
    JobField{'a', "account", "ACCOUNT", [](Job j, Lk) { return or_null(j.account); }},
    JobField{'A', "jobid", "JOBID", [](Job j, Lk) { return number(j.id.value()); }},
    JobField{'b', "tres-per-node", "TRES_PER_NODE", per_node, Reads::request},
    JobField{'B', "batchhost", "EXEC_HOST", exec_host},
    JobField{'c', "mincpus", "MIN_CPUS", [](Job j, Lk) { return number(j.request.cpus_per_task); }, Reads::request},
    JobField{'C', "numcpus", "CPUS", [](Job j, Lk) { return number(j.cpu_count); }},
    JobField{'d', "mintmpdisk", "MIN_TMP_DISK",
             [](Job j, Lk) { return number(static_cast<std::uint64_t>(mib(j.request.disk))); }, Reads::request},
    JobField{'D', "numnodes", "NODES", [](Job j, Lk) { return number(j.node_count); }},
    JobField{'e', "endtime", "END_TIME", [](Job j, Lk l) { return l.times.print(end_of(j, l.now)); }},
    JobField{'E', "dependency", "DEPENDENCY",
             [](Job j, Lk) { return or_null(j.dependency ? dependency_text(*j.dependency) : ""); }, Reads::request},
    JobField{'f', "feature", "FEATURES", [](Job j, Lk) { return or_null(j.request.features); }, Reads::request},
    JobField{'F', "arrayjobid", "ARRAY_JOB_ID", base_id},
    JobField{'g', "groupname", "GROUP", [](Job j, Lk) { return j.group; }},
    JobField{'G', "groupid", "GROUP", [](Job j, Lk) { return number(j.gid); }},
    JobField{'h', "oversubscribe", "OVER_SUBSCRIBE", share, Reads::request},
    JobField{'H', "sockets", "SOCKETS_PER_NODE", star},
    JobField{'i', "jobarrayid", "JOBID", [](Job j, Lk) { return job_id_text(j); }},
    JobField{'I', "cores", "CORES_PER_SOCKET", star},
    JobField{'j', "name", "NAME", [](Job j, Lk) { return printable(j.name, 1024); }},
    JobField{'J', "threads", "THREADS_PER_CORE", star},
    JobField{'k', "comment", "COMMENT", [](Job j, Lk) { return spec_text(j, &JobSpec::comment); }, Reads::spec},
    JobField{'K', "arraytaskid", "ARRAY_TASK_ID", [](Job j, Lk) { return array_task_text(j); }},
    JobField{'l', "timelimit", "TIME_LIMIT", limit_text, Reads::row, true},
    JobField{'L', "timeleft", "TIME_LEFT", time_left, Reads::row, true},
    JobField{'m', "minmemory", "MIN_MEMORY", memory, Reads::request},
    JobField{'M', "timeused", "TIME", time_used, Reads::row, true},
    JobField{'n', "reqnodes", "REQ_NODES", [](Job j, Lk) { return requested(j.request.include_nodes); },
             Reads::request},
    JobField{'N', "nodelist", "NODELIST", [](Job j, Lk) { return nodes_text(j.nodes); }},
    JobField{'o', "command", "COMMAND", [](Job j, Lk) { return spec_text(j, &JobSpec::command); }, Reads::spec},
    JobField{'O', "contiguous", "CONTIGUOUS", [](Job j, Lk) { return number(j.request.contiguous ? 1 : 0); },
             Reads::request},
    JobField{'p', "priority", "PRIORITY", fraction},
    JobField{'P', "partition", "PARTITION",
             [](Job j, Lk) { return j.phase == Phase::waiting ? j.partitions : j.partition; }},
    JobField{'q', "qos", "QOS", [](Job j, Lk) { return or_null(j.qos); }},
    JobField{'Q', "prioritylong", "PRIORITY", [](Job j, Lk) { return std::to_string(j.priority); }},
    JobField{'r', "reason", "REASON", [](Job j, Lk) { return reason_text(j); }},
    JobField{'R', "reasonlist", "NODELIST(REASON)", [](Job j, Lk) { return nodes_or_reason(j); }},
    JobField{'s', "", "SELECT_JOBINFO", nothing},
    JobField{'S', "starttime", "START_TIME", [](Job j, Lk l) { return l.times.print(start_of(j, l.now)); }},
    JobField{'t', "statecompact", "ST",
             [](Job j, Lk) { return std::string(state_code(job_state(j.phase, j.cause))); }},
    JobField{'T', "state", "STATE", [](Job j, Lk) { return std::string(state_word(job_state(j.phase, j.cause))); }},
    JobField{'u', "username", "USER", [](Job j, Lk) { return j.user; }},
    JobField{'U', "userid", "USER", [](Job j, Lk) { return number(j.uid); }},
    JobField{'v', "reservation", "RESERVATION", null},
    JobField{'V', "submittime", "SUBMIT_TIME", [](Job j, Lk l) { return l.times.print(time_of(j.submitted)); }},
    JobField{'w', "wckey", "WCKEY", [](Job j, Lk) { return spec_text(j, &JobSpec::wckey); }, Reads::spec},
    JobField{'W', "licenses", "LICENSES", null},
    JobField{'x', "exc_nodes", "EXC_NODES", [](Job j, Lk) { return requested(j.request.exclude_nodes); },
             Reads::request},
    JobField{'X', "corespec", "CORE_SPEC", not_available},
    JobField{'y', "nice", "NICE", [](Job j, Lk) { return std::to_string(j.nice); }},
    JobField{'Y', "schednodes", "SCHEDNODES", sched_nodes},
    JobField{'z', "sct", "S:C:T", [](Job, Lk) { return std::string("*:*:*"); }},
    JobField{'Z', "workdir", "WORK_DIR", [](Job j, Lk) { return spec_text(j, &JobSpec::work_dir); }, Reads::spec},

    JobField{0, "accruetime", "ACCRUE_TIME", [](Job j, Lk l) { return l.times.print(time_of(j.eligible)); }},
    JobField{0, "admin_comment", "ADMIN_COMMENT", null},
    JobField{0, "allocnodes", "ALLOC_NODES", [](Job j, Lk) { return spec_text(j, &JobSpec::submit_host); },
             Reads::spec},
    JobField{0, "allocsid", "ALLOC_SID", [](Job j, Lk) { return number(j.spec ? j.spec->session_id : 0); },
             Reads::spec},
    JobField{0, "associd", "ASSOC_ID", zero},
    JobField{0, "batchflag", "BATCH_FLAG", [](Job j, Lk) { return number(j.allocation ? 0 : 1); }},
    JobField{0, "boardspernode", "BOARDS_PER_NODE", not_available},
    JobField{0, "burstbuffer", "BURST_BUFFER", null},
    JobField{0, "burstbufferstate", "BURST_BUFFER_STATE", null},
    JobField{0, "cluster", "CLUSTER", not_available},
    JobField{0, "clusterfeature", "CLUSTER_FEATURES", null},
    JobField{0, "container", "CONTAINER", null},
    JobField{0, "containerid", "CONTAINER_ID", null},
    JobField{0, "cpufreq", "CPU_FREQ", not_available},
    JobField{0, "cpus-per-task", "CPUS_PER_TASK", [](Job j, Lk) { return number(j.request.cpus_per_task); },
             Reads::request},
    JobField{0, "cpus-per-tres", "CPUS_PER_TRES",
             [](Job j, Lk) {
               return j.request.cpus_per_gpu == 0 ? std::string("N/A") : "gres/gpu:" + number(j.request.cpus_per_gpu);
             },
             Reads::request},
    JobField{0, "deadline", "DEADLINE", [](Job j, Lk l) { return l.times.print(time_of(j.deadline)); }},
    JobField{0, "delayboot", "DELAY_BOOT", [](Job, Lk) { return std::string("00:00:00"); }},
    JobField{0, "derivedec", "DERIVED_EXIT_CODE", [](Job j, Lk) { return exit_text(j.highest_exit); }},
    JobField{0, "eligibletime", "ELIGIBLE_TIME", [](Job j, Lk l) { return l.times.print(time_of(j.eligible)); }},
    JobField{0, "exit_code", "EXIT_CODE", [](Job j, Lk) { return exit_text(j.cause, j.exit); }},
    JobField{0, "gres", "TRES_PER_NODE", per_node, Reads::request},
    JobField{0, "hetjobid", "HET_JOB_ID", not_available},
    JobField{0, "hetjobidset", "HET_JOB_ID_SET", not_available},
    JobField{0, "hetjoboffset", "HET_JOB_OFFSET", not_available},
    JobField{0, "lastschedeval", "LAST_SCHED_EVAL", [](Job j, Lk l) { return l.times.print(time_of(j.started)); }},
    JobField{0, "licensesalloc", "LICENSES_ALLOC", null},
    JobField{0, "maxcpus", "MAX_CPUS", zero},
    JobField{0, "maxnodes", "MAX_NODES", [](Job j, Lk) { return number(j.request.max_nodes); }, Reads::request},
    JobField{0, "mcslabel", "MCSLABEL", not_available},
    JobField{0, "mem-per-tres", "MEM_PER_TRES",
             [](Job j, Lk) {
               return j.request.memory_rule != MemoryRule::per_gpu
                          ? std::string("N/A")
                          : "gres/gpu:" + std::to_string(mib(j.request.memory));
             },
             Reads::request},
    JobField{0, "mintime", "MIN_TIME", time_min},
    JobField{0, "network", "NETWORK", null},
    JobField{0, "nodes", "NODES", [](Job j, Lk) { return nodes_text(j.nodes); }},
    JobField{0, "ntperboard", "NTASKS_PER_BOARD", zero},
    JobField{0, "ntpercore", "NTASKS_PER_CORE", not_available},
    JobField{0, "ntpernode", "NTASKS_PER_NODE", [](Job j, Lk) { return number(j.request.tasks_per_node); },
             Reads::request},
    JobField{0, "ntpersocket", "NTASKS_PER_SOCKET", not_available},
    JobField{0, "numtasks", "TASKS", [](Job j, Lk) { return number(j.task_count); }},
    JobField{0, "origin", "ORIGIN", not_available},
    JobField{0, "originraw", "ORIGIN_RAW", not_available},
    JobField{0, "pendingtime", "PENDING_TIME",
             [](Job j, Lk l) {
               return number(static_cast<std::uint64_t>(std::max<std::int64_t>(
                   0, unix_seconds(j.started == Instant{} ? l.now : j.started) - unix_seconds(j.submitted))));
             }},
    JobField{0, "preempttime", "PREEMPT_TIME", not_available},
    JobField{0, "prefer", "PREFER", null},
    JobField{0, "profile", "PROFILE", not_available},
    JobField{0, "reboot", "REBOOT", zero},
    JobField{0, "reqswitch", "REQ_SWITCH", zero},
    JobField{0, "requeue", "REQUEUE", [](Job j, Lk) { return number(j.requeue ? 1 : 0); }},
    JobField{0, "resizetime", "RESIZE_TIME", not_available},
    JobField{0, "restartcnt", "RESTART_COUNT", [](Job j, Lk) { return number(j.restarts); }},
    JobField{0, "resvport", "RESV_PORTS", null},
    JobField{0, "sizejob", "S:C:T", star},
    JobField{0, "stderr", "STDERR", [](Job j, Lk) { return spec_text(j, &JobSpec::stderr_path); }, Reads::spec},
    JobField{0, "stdin", "STDIN", [](Job j, Lk) { return spec_text(j, &JobSpec::stdin_path); }, Reads::spec},
    JobField{0, "stdout", "STDOUT", [](Job j, Lk) { return spec_text(j, &JobSpec::stdout_path); }, Reads::spec},
    JobField{0, "system_comment", "SYSTEM_COMMENT", null},
    JobField{0, "tres-alloc", "TRES_ALLOC", tres, Reads::request},
    JobField{0, "tres-bind", "TRES_BIND", not_available},
    JobField{0, "tres-freq", "TRES_FREQ", not_available},
    JobField{0, "tres-per-job", "TRES_PER_JOB", per_job, Reads::request},
    JobField{0, "tres-per-socket", "TRES_PER_SOCKET", not_available},
    JobField{0, "tres-per-step", "TRES_PER_STEP", not_available},
    JobField{0, "tres-per-task", "TRES_PER_TASK", per_task, Reads::request},
    JobField{0, "wait4switch", "WAIT4SWITCH", zero},
};

}  // namespace

std::span<const JobField> job_fields() { return kFields; }

std::vector<std::uint32_t> view_fields(Reads reads) {
  // request, dependency, shares, spec, spec_hash, memory, gpus
  constexpr std::array<std::uint32_t, 7> kBeyondRow{35, 36, 38, 41, 42, 46, 47};
  constexpr std::array<std::uint32_t, 3> kBeyondRequest{38, 41, 42};
  std::vector<std::uint32_t> numbers;
  for (const std::uint32_t number : api::job_view_fields()) {
    const bool beyond =
        (reads == Reads::row && std::ranges::find(kBeyondRow, number) != kBeyondRow.end()) ||
        (reads == Reads::request && std::ranges::find(kBeyondRequest, number) != kBeyondRequest.end());
    if (!beyond) numbers.push_back(number);
  }
  return numbers;
}

std::optional<std::size_t> job_field_by_letter(char letter) {
  for (std::size_t i = 0; i < kFields.size(); ++i) {
    if (kFields[i].letter != 0 && kFields[i].letter == letter) return i;
  }
  return std::nullopt;
}

std::optional<std::size_t> job_field_by_name(std::string_view name) {
  for (std::size_t i = 0; i < kFields.size(); ++i) {
    if (!kFields[i].name.empty() && iequals(kFields[i].name, name)) return i;
  }
  return std::nullopt;
}

}  // namespace drover::slurm
