#include "slurm/launch/batch.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "slurm/script/hostlist.h"
#include "slurm/script/logname.h"

namespace drover::slurm {
namespace {

using Variables = std::map<std::string, std::string>;

std::string text(std::uint64_t number) { return std::to_string(number); }

std::string seconds_text(Instant at) { return std::to_string(unix_seconds(at)); }

std::string extra(const JobSpec& spec, std::string_view key) {
  const auto found = spec.extra.find(std::string(key));
  return found == spec.extra.end() ? std::string{} : found->second;
}

// The submitted environment without what an outer job left in it: a job that submits another must
// not hand its own identity down.
Variables inherited(std::string_view environment) {
  Variables variables;
  while (!environment.empty()) {
    const std::size_t end = std::min(environment.find('\0'), environment.size());
    const std::string_view entry = environment.substr(0, end);
    environment.remove_prefix(std::min(end + 1, environment.size()));
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos || equals == 0) continue;
    const std::string_view name = entry.substr(0, equals);
    if (name.starts_with("SLURM_") || name.starts_with("SLURMD_") || name.starts_with("DROVER_")) continue;
    variables.insert_or_assign(std::string(name), std::string(entry.substr(equals + 1)));
  }
  return variables;
}

void add_identity(const BatchInput& in, Variables& v) {
  const Job& job = in.job;
  const Cluster& cluster = in.cluster;
  v["SLURM_JOB_ID"] = v["SLURM_JOBID"] = text(job.id.value());
  v["SLURM_JOB_NAME"] = job.name;
  v["SLURM_JOB_USER"] = cluster.text(job.user);
  v["SLURM_JOB_UID"] = text(job.uid);
  v["SLURM_JOB_GID"] = text(job.gid);
  if (const std::string& group = cluster.text(job.group); !group.empty()) v["SLURM_JOB_GROUP"] = group;
  v["SLURM_JOB_PARTITION"] = cluster.text(job.partition);
  if (const std::string& account = cluster.text(job.account); !account.empty()) v["SLURM_JOB_ACCOUNT"] = account;
  if (const std::string& qos = cluster.text(job.qos); !qos.empty()) v["SLURM_JOB_QOS"] = qos;
  v["SLURM_CLUSTER_NAME"] = cluster.config().settings.cluster_name;
  v["SLURM_SUBMIT_DIR"] = in.spec.work_dir;
  v["SLURM_SUBMIT_HOST"] = in.spec.submit_host;
  v["SLURM_JOB_START_TIME"] = seconds_text(job.started);
  if (job.limit > Duration{0}) v["SLURM_JOB_END_TIME"] = seconds_text(job.started + job.limit);
  if (job.restarts > 0) v["SLURM_RESTART_COUNT"] = text(job.restarts);
  v["DROVER_ATTEMPT"] = text(job.attempt);
  v["ENVIRONMENT"] = "BATCH";
}

void add_array(const BatchInput& in, Variables& v) {
  if (!in.job.array || in.job.task == kNoTask) return;
  v["SLURM_ARRAY_JOB_ID"] = text(in.job.array.value());
  v["SLURM_ARRAY_TASK_ID"] = text(in.job.task);
  const auto& shape = in.job.array_info;
  if (!shape) return;
  v["SLURM_ARRAY_TASK_COUNT"] = text(shape->total);
  v["SLURM_ARRAY_TASK_MIN"] = text(shape->min);
  v["SLURM_ARRAY_TASK_MAX"] = text(shape->max);
  v["SLURM_ARRAY_TASK_STEP"] = text(shape->step);
}

void add_memory(const Request& request, Variables& v) {
  const std::string mib = std::to_string(request.memory.count() >> 20);
  switch (request.memory_rule) {
    case MemoryRule::per_node: v["SLURM_MEM_PER_NODE"] = mib; break;
    case MemoryRule::per_cpu: v["SLURM_MEM_PER_CPU"] = mib; break;
    case MemoryRule::per_gpu: v["SLURM_MEM_PER_GPU"] = mib; break;
    case MemoryRule::whole_node: v["SLURM_MEM_PER_NODE"] = "0"; break;
    case MemoryRule::proportional: break;
  }
}

void add_placement(const BatchInput& in, Variables& v) {
  std::vector<std::string> nodes;
  std::vector<std::uint32_t> tasks;
  std::vector<std::uint32_t> cpus;
  std::uint32_t node_id = 0;
  std::uint32_t all_tasks = 0;
  for (const NodeShare& share : in.job.placement->shares) {
    if (share.node == in.share.node) node_id = static_cast<std::uint32_t>(nodes.size());
    nodes.push_back(in.cluster.node(share.node).name());
    tasks.push_back(share.tasks);
    cpus.push_back(share.cpus.count());
    all_tasks += share.tasks;
  }
  v["SLURM_JOB_NODELIST"] = v["SLURM_NODELIST"] = compress_sorted(nodes);
  v["SLURM_JOB_NUM_NODES"] = v["SLURM_NNODES"] = text(nodes.size());
  v["SLURM_TASKS_PER_NODE"] = compressed(tasks);
  v["SLURM_JOB_CPUS_PER_NODE"] = compressed(cpus);
  v["SLURM_CPUS_ON_NODE"] = text(in.share.cpus.count());
  v["SLURM_NODEID"] = text(node_id);
  v["SLURMD_NODENAME"] = v["SLURM_TOPOLOGY_ADDR"] = in.cluster.node(in.share.node).name();
  v["SLURM_TOPOLOGY_ADDR_PATTERN"] = "node";
  const Request& request = in.cluster.request(in.job);
  if (request.tasks > 0 || request.tasks_per_node > 0) v["SLURM_NTASKS"] = v["SLURM_NPROCS"] = text(all_tasks);
  if (request.tasks_per_node > 0) v["SLURM_NTASKS_PER_NODE"] = text(request.tasks_per_node);
  if (request.cpus_per_task > 1 || !extra(in.spec, kCpusPerTaskSet).empty()) {
    v["SLURM_CPUS_PER_TASK"] = text(request.cpus_per_task);
    v["SLURM_TRES_PER_TASK"] = "cpu=" + text(request.cpus_per_task);
  }
  if (request.threads_per_core > 0) v["SLURM_THREADS_PER_CORE"] = text(request.threads_per_core);
  v["SLURM_JOB_EXCLUSIVE"] = request.exclusive ? "YES" : "NO";
  v["SLURM_JOB_OVERSUBSCRIBE"] = "NO";
  if (request.overcommit) v["SLURM_OVERCOMMIT"] = "1";
  add_memory(request, v);
}

void add_gpus(const BatchInput& in, Variables& v) {
  if (in.share.devices.empty()) return;
  std::string indexes;
  for (const Grant& grant : in.share.devices) {
    if (!indexes.empty()) indexes += ',';
    indexes += text(in.cluster.device(grant.device).info.index);
  }
  v["SLURM_JOB_GPUS"] = indexes;
  v["SLURM_GPUS_ON_NODE"] = text(in.share.devices.size());
  const std::pair<std::string_view, const char*> given[] = {
      {kGpus, "SLURM_GPUS"}, {kGpusPerNode, "SLURM_GPUS_PER_NODE"}, {kGpusPerTask, "SLURM_GPUS_PER_TASK"}};
  for (const auto& [key, name] : given) {
    if (std::string value = extra(in.spec, key); !value.empty()) v[name] = std::move(value);
  }
  if (const std::uint32_t n = in.cluster.request(in.job).cpus_per_gpu; n > 0) v["SLURM_CPUS_PER_GPU"] = text(n);
}

// The batch shell is step -5 ("batch"), process 0.
void add_step(const BatchInput& in, Variables& v) {
  for (const char* zero : {"SLURM_LOCALID", "SLURM_PROCID", "SLURM_GTIDS", "SLURM_OOM_KILL_STEP", "SLURM_PRIO_PROCESS"}) {
    v[zero] = "0";
  }
  v["SLURM_STEP_ID"] = v["SLURM_STEPID"] = "-5";
  if (std::string given = extra(in.spec, kExportEnv); !given.empty()) v["SLURM_EXPORT_ENV"] = std::move(given);
  if (std::string given = extra(in.spec, kHint); !given.empty()) v["SLURM_HINT"] = std::move(given);
}

std::string absolute(const std::string& path, const std::string& work_dir) {
  return path.empty() || path.front() == '/' ? path : work_dir + "/" + path;
}

void add_files(const BatchInput& in, Launch& launch) {
  const Job& job = in.job;
  const bool array = job.array && job.task != kNoTask;
  LogNames names{.job = job.id.value(),
                 .array_job = array ? job.array.value() : job.id.value(),
                 .job_name = job.name,
                 .user = in.cluster.text(job.user),
                 .node = in.cluster.node(in.share.node).name(),
                 .restarts = job.restarts};
  if (array) names.task = job.task;
  const auto path = [&](const std::string& pattern) {
    return absolute(expand_log_name(pattern, names), in.spec.work_dir);
  };
  const std::string& out = in.spec.stdout_path;
  launch.stdout_path = path(out.empty() ? std::string(default_log_name(array)) : out);
  launch.stderr_path = in.spec.stderr_path.empty() ? launch.stdout_path : path(in.spec.stderr_path);
  launch.stdin_path = in.spec.stdin_path.empty() ? "/dev/null" : path(in.spec.stdin_path);
}

}  // namespace

std::string compressed(const std::vector<std::uint32_t>& numbers) {
  std::string result;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i;
    while (end < numbers.size() && numbers[end] == numbers[i]) ++end;
    if (!result.empty()) result += ',';
    result += text(numbers[i]);
    if (end - i > 1) result += "(x" + text(end - i) + ")";
    i = end;
  }
  return result;
}

void fill_batch(const BatchInput& in, Launch& launch) {
  Variables variables = inherited(in.environment);
  add_identity(in, variables);
  add_array(in, variables);
  add_placement(in, variables);
  add_gpus(in, variables);
  add_step(in, variables);
  launch.environment.clear();
  for (auto& [name, value] : variables) launch.environment.push_back(name + "=" + value);
  launch.arguments = in.spec.arguments;
  launch.work_dir = in.spec.work_dir;
  add_files(in, launch);
}

}  // namespace drover::slurm
