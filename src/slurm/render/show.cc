#include "slurm/render/show.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "slurm/launch/batch.h"
#include "slurm/script/array.h"
#include "slurm/script/memory.h"

namespace drover::slurm {
namespace {

// Lines of a block: three blanks of indent, or all on one line.
class Block {
 public:
  explicit Block(const ShowStyle& style) : style_(style) {}
  Block& line(const std::string& text) {
    if (!text_.empty()) text_ += style_.one_line ? " " : "\n   ";
    text_ += text;
    return *this;
  }
  [[nodiscard]] std::string end() const { return text_ + (style_.one_line ? "\n" : "\n\n"); }

 private:
  ShowStyle style_;
  std::string text_;
};

std::string number(std::uint64_t n) { return std::to_string(n); }
std::string yes(bool b) { return b ? "YES" : "NO"; }
std::string limit_text(Duration limit, const char* none) {
  return limit.count() == 0 ? none : long_duration(seconds_of(limit));
}

// Without the throttle, which has a key of its own.
std::string bare_tasks(const api::JobView& job) {
  return job.pending ? print_tasks(pending_tasks(*job.pending)) : array_task_text(job);
}

std::string first_line(const api::JobView& job) {
  std::string line = "JobId=" + number(job.id.value());
  if (job.array) {
    line += " ArrayJobId=" + number(job.array.value());
    line += " ArrayTaskId=" + bare_tasks(job);
    if (job.pending && job.pending->throttle > 0) line += " ArrayTaskThrottle=" + number(job.pending->throttle);
  }
  return line + " JobName=" + printable(job.name, 1024);
}

std::string node_counts(const api::JobView& job) {
  const bool open = job.phase == Phase::waiting && job.hold != Hold::none;
  std::string nodes = number(job.node_count);
  if (open) {
    nodes = number(std::max(job.request.min_nodes, 1U)) + "-" +
            number(job.request.max_nodes == 0 ? job.node_count : job.request.max_nodes);
  }
  return "NumNodes=" + nodes + " NumCPUs=" + number(job.cpu_count) + " NumTasks=" + number(job.task_count) +
         " CPUs/Task=" + number(job.request.cpus_per_task) + " ReqB:S:C:T=0:0:*:*";
}

std::string memory_line(const api::JobView& job, const Look& look) {
  const std::string amount = print_memory_mib(min_memory_mib(job), look.convert);
  std::string key = "MinMemoryNode=";
  if (job.request.memory_rule == MemoryRule::per_cpu) key = "MinMemoryCPU=";
  return "MinCPUsNode=" + number(job.request.cpus_per_task * std::max(job.request.tasks_per_node, 1U)) + " " + key +
         amount + " MinTmpDiskNode=" + std::to_string(mib(job.request.disk));
}

void files_and_words(Block& block, const api::JobView& job) {
  const JobSpec spec = job.spec.value_or(JobSpec{});
  block.line("Command=" + or_null(printable(spec.command, 4096)));
  block.line("SubmitLine=" + printable(spec.submit_line, 8192));
  block.line("WorkDir=" + printable(spec.work_dir, 4096));
  if (!spec.comment.empty()) block.line("Comment=" + printable(spec.comment, 4096) + " ");
  const JobFiles files = job.spec ? job_files(job) : JobFiles{};
  block.line("StdErr=" + files.err);
  block.line("StdIn=" + files.in);
  block.line("StdOut=" + files.out);
}

void asked_gpus(Block& block, const api::JobView& job) {
  const std::string per_job = gpu_asks_text(job.request.gpus_per_job);
  const std::string per_node = gpu_asks_text(job.request.gpus_per_node);
  std::string per_task = gpu_asks_text(job.request.gpus_per_task);
  if (job.request.cpus_per_task > 1) {
    per_task = "cpu=" + number(job.request.cpus_per_task) + (per_task.empty() ? "" : "," + per_task);
  }
  if (!per_job.empty()) block.line("TresPerJob=" + per_job);
  if (!per_node.empty()) block.line("TresPerNode=" + per_node);
  if (!per_task.empty()) block.line("TresPerTask=" + per_task);
}

void details_of(Block& block, const api::JobView& job) {
  block.line("JOB_GRES=" + or_null(gpu_asks_text(job.gpus)));
  for (const api::ShareView& share : job.shares) {
    std::string indexes;
    for (const std::uint32_t index : share.gpu_indexes) indexes += (indexes.empty() ? "" : ",") + number(index);
    block.line(
        "  Nodes=" + share.node + " CPU_IDs=" + share.cpus + " Mem=" + std::to_string(mib(share.memory)) +
        " GRES=" + (indexes.empty() ? "" : "gpu:" + number(share.gpu_indexes.size()) + "(IDX:" + indexes + ")"));
  }
}

void times_of(Block& block, const api::JobView& job, const Look& look) {
  const auto& times = look.times;
  const std::string eligible = times.print(time_of(job.eligible), "Unknown");
  block.line("RunTime=" + long_duration(used_seconds(job, look.now)) +
             " TimeLimit=" + limit_text(job.limit, "UNLIMITED") + " TimeMin=" + limit_text(job.min_limit, "N/A"));
  block.line("SubmitTime=" + times.print(time_of(job.submitted), "Unknown") + " EligibleTime=" + eligible);
  block.line("AccrueTime=" + eligible);
  block.line("StartTime=" + times.print(start_of(job, look.now), "Unknown") +
             " EndTime=" + times.print(end_of(job, look.now), "Unknown") +
             " Deadline=" + times.print(time_of(job.deadline), "N/A"));
  block.line("SuspendTime=None SecsPreSuspend=0 LastSchedEval=" +
             times.print(time_of(job.started == Instant{} ? job.submitted : job.started), "Unknown") +
             " Scheduler=Main");
}

}  // namespace

std::string show_job(const api::JobView& job, const Look& look, const ShowStyle& style) {
  Block block(style);
  const JobState state = job_state(job.phase, job.cause);
  const std::uint32_t sid = job.spec ? job.spec->session_id : 0;
  block.line(first_line(job));
  block.line("UserId=" + job.user + "(" + number(job.uid) + ") GroupId=" + job.group + "(" + number(job.gid) +
             ") MCS_label=N/A");
  block.line("Priority=" + std::to_string(job.priority) + " Nice=" + std::to_string(job.nice) +
             " Account=" + or_null(job.account) + " QOS=" + or_null(job.qos));
  block.line("JobState=" + std::string(state_word(state)) + " Reason=" + reason_text(job) +
             " Dependency=" + or_null(job.dependency ? dependency_text(*job.dependency) : ""));
  block.line("Requeue=" + number(job.requeue ? 1 : 0) + " Restarts=" + number(job.restarts) +
             " BatchFlag=" + number(job.allocation ? 0 : 1) + " Reboot=0 ExitCode=" + exit_text(job.cause, job.exit));
  if (style.details) block.line("DerivedExitCode=" + exit_text(job.highest_exit));
  times_of(block, job, look);
  block.line("Partition=" + (job.phase == Phase::waiting ? job.partitions : job.partition) + " AllocNode:Sid=" +
             (job.spec && !job.spec->submit_host.empty() ? job.spec->submit_host : "localhost") + ":" + number(sid));
  block.line("ReqNodeList=" + or_null(nodes_text(job.request.include_nodes)) +
             " ExcNodeList=" + or_null(nodes_text(job.request.exclude_nodes)));
  block.line("NodeList=" + nodes_text(job.nodes) +
             (job.expected_nodes.empty() ? "" : " SchedNodeList=" + nodes_text(job.expected_nodes)));
  if (!job.nodes.empty()) block.line("BatchHost=" + job.nodes.front());
  block.line(node_counts(job));
  block.line("ReqTRES=" + print_tres(asked_tres(job)));
  block.line("AllocTRES=" + or_null(print_tres(granted_tres(job))));
  block.line("Socks/Node=* NtasksPerN:B:S:C=" + number(job.request.tasks_per_node) + ":0:*:* CoreSpec=*");
  if (style.details && !job.shares.empty()) details_of(block, job);
  block.line(memory_line(job, look));
  block.line("Features=" + or_null(job.request.features) + " DelayBoot=00:00:00");
  block.line("OverSubscribe=NO Exclusive=" + std::string(job.request.exclusive ? "NODE" : "NO") + " Contiguous=" +
             number(job.request.contiguous ? 1 : 0) + " Licenses=(null) LicensesAlloc=(null) Network=(null)");
  files_and_words(block, job);
  asked_gpus(block, job);
  return block.end();
}

std::string show_step(const api::JobView& job, const Look& look, const ShowStyle& style) {
  Block block(style);
  block.line("StepId=" + job_id_text(job) + ".batch UserId=" + number(job.uid) +
             " StartTime=" + look.times.print(start_of(job, look.now), "Unknown") + " TimeLimit=UNLIMITED");
  block.line("State=RUNNING Partition=" + job.partition +
             " NodeList=" + (job.nodes.empty() ? "" : job.nodes.front()));
  block.line("Nodes=1 CPUs=0 Tasks=1 Name=batch Network=(null)");
  block.line("TRES=(null)");
  block.line("ResvPorts=(null)");
  block.line("CPUFreqReq=Default");
  block.line("SrunHost:Pid=(null):0");
  return block.end();
}

std::string show_step(const api::JobView& job, const api::StepView& step, const Look& look,
                      const ShowStyle& style) {
  std::vector<std::string> nodes;
  Tres tres{.cpus = step.cpu_count, .nodes = step.shares.size()};
  for (const api::StepShareView& part : step.shares) {
    nodes.push_back(part.share.node);
    tres.memory_mib += mib(part.share.memory);
    tres.gpus += gpu_total(part.share.gpus);
  }
  Block block(style);
  block.line("StepId=" + job_id_text(job) + "." + number(step.number) + " UserId=" + number(step.uid) +
             " StartTime=" + look.times.print(time_of(step.started), "Unknown") +
             " TimeLimit=" + limit_text(step.limit, "UNLIMITED"));
  block.line("State=RUNNING Partition=" + step.partition + " NodeList=" + nodes_text(nodes));
  block.line("Nodes=" + number(static_cast<std::uint32_t>(nodes.size())) + " CPUs=" + number(step.cpu_count) +
             " Tasks=" + number(step.task_count) + " Name=" + printable(step.name) + " Network=(null)");
  block.line("TRES=" + print_tres(tres));
  block.line("ResvPorts=(null)");
  block.line("CPUFreqReq=Default");
  block.line("SrunHost:Pid=(null):0");
  return block.end();
}

std::string show_node(const api::NodeView& view, const Look& look, const ShowStyle& style) {
  Block block(style);
  const NodeInventory& about = view.node.inventory;
  const auto stamp = [&](Instant at) { return look.times.print(time_of(at), "None"); };
  block.line("NodeName=" + about.name + " Arch=" + about.arch + " CoresPerSocket=" + number(about.cores_per_socket) +
             " ");
  block.line("CPUAlloc=" + number(cpu_counts(view).allocated) + " CPUEfctv=" + number(about.cpus) +
             " CPUTot=" + number(about.cpus) + " CPULoad=" + load_text(view.load_centi));
  block.line("AvailableFeatures=" + features_text(view));
  block.line("ActiveFeatures=" + features_text(view));
  block.line("Gres=" + gres_text(view));
  if (style.details) block.line("GresDrain=N/A").line("GresUsed=" + gres_used_text(view));
  // Agents on one machine have no port of their own: theirs are sessions that they open.
  block.line("NodeAddr=" + about.address + " NodeHostName=" + about.host_name + " Version=" + about.version);
  block.line("OS=" + about.os + " ");
  block.line("RealMemory=" + std::to_string(mib(about.memory)) +
             " AllocMem=" + std::to_string(mib(view.memory_used)) +
             " FreeMem=" + (view.memory_free.count() == 0 ? "N/A" : std::to_string(mib(view.memory_free))) +
             " Sockets=" + number(about.sockets) + " Boards=1");
  block.line("State=" + flags_state(node_state(view)) + " ThreadsPerCore=" + number(about.threads_per_core) +
             " TmpDisk=" + std::to_string(mib(about.disk)) + " Weight=1 Owner=N/A MCS_label=N/A");
  block.line("Partitions=" + join(view.partitions, ",") + " ");
  block.line("BootTime=" + stamp(about.booted) + " SlurmdStartTime=" + stamp(about.agent_started));
  block.line("LastBusyTime=" + stamp(view.node.last_busy) + " ResumeAfterTime=None SuspendTime=INFINITE");
  block.line("CfgTRES=" + print_tres(configured_tres(view)));
  block.line("AllocTRES=" + print_tres(allocated_tres(view)));
  block.line("CurrentWatts=0 AveWatts=0");
  if (view.node.drain) {
    const Drain& drain = *view.node.drain;
    block.line("Reason=" + printable(drain.reason, 1024) + " [" + drain.user + "@" + stamp(drain.since) + "]");
  }
  return block.end();
}

std::string show_partition(const api::PartitionView& view, const ShowStyle& style) {
  Block block(style);
  const Partition& p = view.partition;
  const auto count = [](std::uint32_t n) { return n == 0 ? std::string("UNLIMITED") : number(n); };
  block.line("PartitionName=" + p.name);
  block.line("AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL");
  block.line("AllocNodes=ALL Default=" + yes(p.is_default) + " QoS=N/A");
  block.line("DefaultTime=" + limit_text(p.default_time, "NONE") +
             " DisableRootJobs=NO Exclusive=NO GraceTime=0 Hidden=NO");
  block.line("MaxNodes=" + count(p.max_nodes) + " MaxTime=" + limit_text(p.max_time, "UNLIMITED") +
             " MinNodes=" + number(p.min_nodes) + " LLN=NO MaxCPUsPerNode=UNLIMITED MaxCPUsPerSocket=UNLIMITED");
  block.line("Nodes=" + or_null(nodes_text(view.nodes)));
  block.line("PriorityJobFactor=1 PriorityTier=" + number(p.tier) + " RootOnly=NO ReqResv=NO OverSubscribe=NO");
  block.line("OverTimeLimit=NONE PreemptMode=OFF");
  block.line("State=" + std::string(p.up ? "UP" : "DOWN") + " TotalCPUs=" + number(view.cpus) +
             " TotalNodes=" + number(view.nodes.size()) + " SelectTypeParameters=NONE");
  block.line("JobDefaults=(null)");
  const std::string per_cpu = p.memory_rule == MemoryRule::per_cpu ? std::to_string(mib(p.memory)) : "";
  const std::string per_node = p.memory_rule == MemoryRule::per_node ? std::to_string(mib(p.memory)) : "UNLIMITED";
  block.line((per_cpu.empty() ? "DefMemPerNode=" + per_node : "DefMemPerCPU=" + per_cpu) +
             " MaxMemPerNode=UNLIMITED");
  const Tres tres{.cpus = view.cpus,
                  .memory_mib = mib(view.memory),
                  .nodes = view.nodes.size(),
                  .billing = view.cpus,
                  .gpus = gpu_total(view.gpus)};
  block.line("TRES=" + print_tres(tres));
  return block.end();
}

std::string show_config(const api::Overview& overview, const Look& look) {
  const Settings& settings = overview.config.settings;
  const std::array<std::pair<std::string, std::string>, 15> rows{{
      {"AccountingStorageType", "accounting_storage/drover"},
      {"AccountingStorageTRES", "cpu,mem,energy,node,billing,fs/disk,vmem,pages,gres/gpu"},
      {"BOOT_TIME", look.times.print(time_of(overview.started), "Unknown")},
      {"ClusterName", settings.cluster_name},
      {"GresTypes", "gpu"},
      {"JobRequeue", "1"},
      {"KillWait", std::to_string(seconds_of(settings.kill_grace)) + " sec"},
      {"MaxArraySize", number(settings.max_array_size)},
      {"MaxJobCount", number(settings.max_jobs)},
      {"MinJobAge", std::to_string(seconds_of(settings.min_job_age)) + " sec"},
      {"SLURM_VERSION", "26.05.3"},
      {"SchedulerType", "sched/backfill"},
      {"SlurmctldHost[0]", overview.host},
      {"SlurmdTimeout", std::to_string(seconds_of(settings.node_timeout)) + " sec"},
      {"StateSaveLocation", overview.state_dir},
  }};
  std::string text = "Configuration data as of " + look.times.print(unix_seconds(look.now)) + "\n";
  for (const auto& [key, value] : rows) {
    text += key + std::string(key.size() < 23 ? 23 - key.size() : 0, ' ') + " = " + value + "\n";
  }
  text += "\nSlurmctld(primary) at " + overview.host + " is UP\n";
  return text;
}

}  // namespace drover::slurm
