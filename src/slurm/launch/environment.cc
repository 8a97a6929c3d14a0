#include "slurm/launch/environment.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "slurm/exit.h"
#include "slurm/launch/describe.h"
#include "slurm/render/job_text.h"

namespace drover::slurm {
namespace {

// Items of --export: commas separate, except inside quotes, which are dropped.
Result<std::vector<std::string>> export_items(std::string_view text, std::string_view program) {
  std::vector<std::string> items(1);
  char quote = 0;
  for (const char c : text) {
    if (quote != 0 ? c == quote : (c == '"' || c == '\'')) {
      quote = quote != 0 ? '\0' : c;
    } else if (c == ',' && quote == 0) {
      items.emplace_back();
    } else {
      items.back() += c;
    }
  }
  if (quote != 0)
    return Error{Errc::invalid, error_line(program, "Invalid --export specification")};
  return items;
}

bool is_slurms(std::string_view name) {
  return name.starts_with("SLURM_") || name.starts_with("SBATCH_");
}

std::string number(std::uint64_t n) { return std::to_string(n); }

// "a100:4,t4:1", as the user would write it.
std::string asks_text(const std::vector<GpuAsk>& asks) {
  std::string text;
  for (const GpuAsk& ask : asks) {
    text +=
        (text.empty() ? "" : ",") + (ask.model.empty() ? "" : ask.model + ":") + number(ask.count);
  }
  return text;
}

}  // namespace

bool tells_of_a_job(std::string_view name) {
  constexpr std::array<std::string_view, 24> kBeginnings{
      "SLURM_JOB",     "SLURM_STEP",    "SLURM_ARRAY_",     "SLURM_NTASKS",
      "SLURM_NPROCS",  "SLURM_NNODES",  "SLURM_NODEID",     "SLURM_NODELIST",
      "SLURM_TASK",    "SLURM_CPUS_",   "SLURM_GPUS",       "SLURM_MEM_PER_",
      "SLURM_PROCID",  "SLURM_LOCALID", "SLURM_GTIDS",      "SLURM_RESTART_",
      "SLURM_SRUN_",   "SLURM_LAUNCH_", "SLURM_TRES_",      "SLURM_TOPOLOGY_",
      "SLURM_SUBMIT_", "SLURMD_",       "SLURM_EXPORT_ENV", "SLURM_DISTRIBUTION"};
  return std::ranges::any_of(
      kBeginnings, [&](std::string_view beginning) { return name.starts_with(beginning); });
}

void describe_job(Environment& env, const api::JobView& job, const LaunchFacts& facts) {
  env["SLURM_CLUSTER_NAME"] = facts.cluster_name;
  env["SLURM_JOBID"] = env["SLURM_JOB_ID"] = number(job.id.value());
  env["SLURM_JOB_NAME"] = job.name;
  env["SLURM_JOB_UID"] = number(job.uid);
  env["SLURM_JOB_GID"] = number(job.gid);
  env["SLURM_JOB_USER"] = job.user;
  env["SLURM_JOB_PARTITION"] = job.partition;
  if (!job.account.empty()) env["SLURM_JOB_ACCOUNT"] = job.account;
  if (!job.qos.empty()) env["SLURM_JOB_QOS"] = job.qos;
  env["SLURM_JOB_EXCLUSIVE"] = job.request.exclusive ? "NODE" : "NO";
  env["SLURM_JOB_OVERSUBSCRIBE"] = "NO";
  env["SLURM_JOB_START_TIME"] = std::to_string(unix_seconds(job.started));
  if (job.limit.count() > 0)
    env["SLURM_JOB_END_TIME"] = std::to_string(unix_seconds(job.started + job.limit));
  if (job.restarts > 0) env["SLURM_RESTART_COUNT"] = number(job.restarts);
}

void describe_array(Environment& env, const api::JobView& job, const LaunchFacts& facts) {
  if (job.task == kNoTask) return;
  env["SLURM_ARRAY_JOB_ID"] = number(job.array.value());
  env["SLURM_ARRAY_TASK_ID"] = number(job.task);
  if (!facts.array) return;
  env["SLURM_ARRAY_TASK_COUNT"] = number(facts.array->total);
  env["SLURM_ARRAY_TASK_MIN"] = number(facts.array->min);
  env["SLURM_ARRAY_TASK_MAX"] = number(facts.array->max);
  env["SLURM_ARRAY_TASK_STEP"] = number(facts.array->step);
}

void describe_nodes(Environment& env, const api::JobView& job) {
  std::vector<std::uint32_t> cpus;
  std::vector<std::uint32_t> tasks;
  for (const api::ShareView& share : job.shares) {
    cpus.push_back(share.cpu_count);
    tasks.push_back(share.tasks);
  }
  env["SLURM_JOB_NODELIST"] = env["SLURM_NODELIST"] = nodes_text(job.nodes);
  env["SLURM_JOB_NUM_NODES"] = env["SLURM_NNODES"] = number(job.nodes.size());
  env["SLURM_JOB_CPUS_PER_NODE"] = repeated(cpus);
  env["SLURM_TASKS_PER_NODE"] = repeated(tasks);
  if (job.shares.empty()) return;
  const api::ShareView& first = job.shares.front();
  env["SLURMD_NODENAME"] = env["SLURM_TOPOLOGY_ADDR"] = first.node;
  env["SLURM_TOPOLOGY_ADDR_PATTERN"] = "node";
  env["SLURM_CPUS_ON_NODE"] = number(first.cpu_count);
  if (first.gpu_indexes.empty()) return;
  std::string indexes;
  for (const std::uint32_t index : first.gpu_indexes)
    indexes += (indexes.empty() ? "" : ",") + number(index);
  env["SLURM_GPUS_ON_NODE"] = number(first.gpu_indexes.size());
  env["SLURM_JOB_GPUS"] = indexes;
}

void describe_request(Environment& env, const api::JobView& job) {
  const Request& request = job.request;
  const auto& extra = job.spec ? job.spec->extra : std::map<std::string, std::string>{};
  const auto said = [&extra](const char* what) { return extra.contains(what); };
  if (request.tasks > 0 || request.tasks_per_node > 0) {
    env["SLURM_NTASKS"] = env["SLURM_NPROCS"] = number(job.task_count);
  }
  if (request.tasks_per_node > 0) env["SLURM_NTASKS_PER_NODE"] = number(request.tasks_per_node);
  std::string per_task;
  if (said("cpus_per_task") || request.cpus_per_task > 1) {
    env["SLURM_CPUS_PER_TASK"] = number(request.cpus_per_task);
    per_task = "cpu=" + number(request.cpus_per_task);
  }
  if (!request.gpus_per_task.empty()) {
    env["SLURM_GPUS_PER_TASK"] = asks_text(request.gpus_per_task);
    per_task += (per_task.empty() ? "" : ",") + gpu_asks_text(request.gpus_per_task);
  }
  if (!per_task.empty()) env["SLURM_TRES_PER_TASK"] = per_task;
  if (request.cpus_per_gpu > 0) env["SLURM_CPUS_PER_GPU"] = number(request.cpus_per_gpu);
  if (!request.gpus_per_job.empty()) env["SLURM_GPUS"] = asks_text(request.gpus_per_job);
  if (said("gpus_per_node")) env["SLURM_GPUS_PER_NODE"] = asks_text(request.gpus_per_node);
  if (request.overcommit) env["SLURM_OVERCOMMIT"] = "1";
  if (request.threads_per_core > 0)
    env["SLURM_THREADS_PER_CORE"] = number(request.threads_per_core);
  const std::string memory = std::to_string(mib(request.memory));
  if (request.memory_rule == MemoryRule::per_node) env["SLURM_MEM_PER_NODE"] = memory;
  if (request.memory_rule == MemoryRule::per_cpu) env["SLURM_MEM_PER_CPU"] = memory;
  if (request.memory_rule == MemoryRule::per_gpu) env["SLURM_MEM_PER_GPU"] = memory;
  if (request.memory_rule == MemoryRule::whole_node && !job.shares.empty()) {
    env["SLURM_MEM_PER_NODE"] = std::to_string(mib(job.shares.front().memory));
  }
  if (said("dependency")) env["SLURM_JOB_DEPENDENCY"] = extra.at("dependency");
  if (said("hint")) env["SLURM_HINT"] = extra.at("hint");
  if (said("export")) env["SLURM_EXPORT_ENV"] = extra.at("export");
}

Result<Exported> exported(const std::optional<std::string>& export_words, const Environment& environment,
                          std::string_view program) {
  Exported result;
  if (!export_words || iequals(*export_words, "ALL")) {
    result.variables = environment;
    return result;
  }
  for (const auto& [name, value] : environment) {
    if (is_slurms(name)) result.variables[name] = value;
  }
  if (iequals(*export_words, "NIL")) return result;
  result.with_login = iequals(*export_words, "NONE");
  if (result.with_login) return result;
  for (const std::string& item : TRY(export_items(*export_words, program))) {
    const std::size_t equals = item.find('=');
    if (iequals(item, "ALL")) {
      for (const auto& [name, value] : environment) result.variables.emplace(name, value);
    } else if (equals != std::string::npos && equals > 0) {
      result.variables[item.substr(0, equals)] = item.substr(equals + 1);
    } else if (const auto found = environment.find(item); found != environment.end()) {
      result.variables[item] = found->second;
    }
  }
  return result;
}

std::string encode_environment(const Environment& environment) {
  std::string text;
  for (const auto& [name, value] : environment) text += name + "=" + value + '\0';
  return text;
}

Environment decode_environment(std::string_view text) {
  Environment environment;
  for (const std::string_view item : split(text, '\0')) {
    const std::size_t equals = item.find('=');
    if (equals != std::string_view::npos && equals > 0) {
      environment.insert_or_assign(std::string(item.substr(0, equals)),
                                   std::string(item.substr(equals + 1)));
    }
  }
  return environment;
}

std::string repeated(const std::vector<std::uint32_t>& counts) {
  std::string text;
  for (std::size_t i = 0; i < counts.size();) {
    std::size_t end = i;
    while (end < counts.size() && counts[end] == counts[i]) ++end;
    text += (text.empty() ? "" : ",") + number(counts[i]);
    if (end - i > 1) text += "(x" + number(end - i) + ")";
    i = end;
  }
  return text;
}

std::vector<std::string> environment_list(const Environment& env) {
  std::vector<std::string> list;
  for (const auto& [name, value] : env) {
    std::string item = name;
    list.push_back(item.append("=").append(value));
  }
  return list;
}

std::vector<std::string> batch_environment(const api::JobView& job, std::string_view submitted,
                                           const LaunchFacts& facts) {
  Environment env;
  for (auto& [name, value] : decode_environment(submitted)) {
    if (!tells_of_a_job(name)) env.emplace(name, value);
  }
  describe_job(env, job, facts);
  describe_array(env, job, facts);
  describe_nodes(env, job);
  describe_request(env, job);
  for (const char* zero : {"SLURM_GTIDS", "SLURM_LOCALID", "SLURM_NODEID", "SLURM_PROCID",
                           "SLURM_PRIO_PROCESS", "SLURM_OOM_KILL_STEP"}) {
    env[zero] = "0";
  }
  env["SLURM_STEPID"] = env["SLURM_STEP_ID"] = "-5";  // the batch step
  env["ENVIRONMENT"] = "BATCH";
  if (job.spec) {
    env["SLURM_SUBMIT_DIR"] = job.spec->extra.contains("submit_dir")
                                  ? job.spec->extra.at("submit_dir")
                                  : job.spec->work_dir;
    env["SLURM_SUBMIT_HOST"] = job.spec->submit_host;
  }
  return environment_list(env);
}

}  // namespace drover::slurm
