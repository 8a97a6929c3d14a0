#include "slurm/launch/step.h"

#include <algorithm>
#include <cstdio>

#include "base/text.h"
#include "slurm/launch/bind.h"
#include "slurm/launch/describe.h"
#include "slurm/render/job_text.h"

namespace drover::slurm {
namespace {

std::string number(std::uint64_t n) { return std::to_string(n); }

std::string number_list(const std::vector<std::uint32_t>& numbers) {
  std::string text;
  for (const std::uint32_t n : numbers) text += (text.empty() ? "" : ",") + number(n);
  return text;
}

std::vector<std::uint32_t> numbers_of(const std::vector<drover::TaskRange>& ranges) {
  std::vector<std::uint32_t> tasks;
  for (const drover::TaskRange& range : ranges) {
    for (std::uint64_t t = range.first; t <= range.last; t += std::max(range.step, 1U)) {
      tasks.push_back(static_cast<std::uint32_t>(t));
    }
  }
  return tasks;
}

// What the parts of one node's launch are made from.
struct Part {
  const Cluster& cluster;
  const Step& step;
  const StepSpec& spec;
  const StepShare& share;
  const Node& node;
  api::JobView job;
  std::vector<std::uint32_t> tasks;
  std::uint32_t node_rank = 0;
};

std::uint32_t rank_of(const Step& step, const StepShare& share) {
  const auto found = std::ranges::find_if(
      step.shares, [&](const StepShare& s) { return s.share.node == share.share.node; });
  return static_cast<std::uint32_t>(found - step.shares.begin());
}

void describe_step(Environment& env, const Part& part) {
  std::vector<std::string> nodes;
  std::vector<std::uint32_t> tasks;
  std::uint64_t total = 0;
  for (const StepShare& share : part.step.shares) {
    nodes.push_back(part.cluster.node(share.share.node).name());
    tasks.push_back(share.share.tasks);
    total += share.share.tasks;
  }
  env["SLURM_STEPID"] = env["SLURM_STEP_ID"] = number(part.step.number);
  env["SLURM_STEP_NODELIST"] = env["SLURM_NODELIST"] = nodes_text(nodes);
  env["SLURM_STEP_NUM_NODES"] = env["SLURM_NNODES"] = number(nodes.size());
  env["SLURM_STEP_NUM_TASKS"] = env["SLURM_NTASKS"] = env["SLURM_NPROCS"] = number(total);
  env["SLURM_STEP_TASKS_PER_NODE"] = env["SLURM_TASKS_PER_NODE"] = repeated(tasks);
  const StepRequest& request = part.step.request;
  if (request.tasks_per_node > 0) env["SLURM_NTASKS_PER_NODE"] = number(request.tasks_per_node);
  if (request.cpus_per_task > 0) {
    env["SLURM_CPUS_PER_TASK"] = number(request.cpus_per_task);
    env["SLURM_TRES_PER_TASK"] = "cpu=" + number(request.cpus_per_task);
  }
  const bool dealt = request.distribution != Distribution::block;
  if (nodes.size() > 1 || dealt) {
    env["SLURM_DISTRIBUTION"] =
        std::string(word(request.distribution)) +
        (request.distribution == Distribution::plane ? "=" + number(request.plane) : "");
  }
  if (request.overcommit) env["SLURM_OVERCOMMIT"] = "1";
}

void describe_place(Environment& env, const Part& part) {
  env["SLURMD_NODENAME"] = env["SLURM_TOPOLOGY_ADDR"] = part.node.name();
  env["SLURM_TOPOLOGY_ADDR_PATTERN"] = "node";
  env["SLURM_NODEID"] = number(part.node_rank);
  env["SLURM_GTIDS"] = number_list(part.tasks);
  env["SLURM_CPUS_ON_NODE"] = number(part.share.share.cpus.count());
  const auto address = part.spec.extra.find(std::string(kLaunchAddress));
  if (address != part.spec.extra.end()) {
    env["SLURM_LAUNCH_NODE_IPADDR"] = env["SLURM_SRUN_COMM_HOST"] = address->second;
    // No port listens for a step's programs: 0 says so to whoever looks.
    env["SLURM_SRUN_COMM_PORT"] = env["SLURM_STEP_LAUNCHER_PORT"] = "0";
  }
  char umask[8] = "";
  std::snprintf(umask, sizeof umask, "%04o", part.spec.umask);
  env["SLURM_UMASK"] = umask;
  env["SLURM_JOB_GROUP"] = part.job.group;
  env["SLURM_PRIO_PROCESS"] = env["SLURM_OOM_KILL_STEP"] = "0";
  env.erase("SLURM_JOB_GPUS");
  for (const api::ShareView& share : part.job.shares) {
    if (share.node == part.node.name() && !share.gpu_indexes.empty()) {
      env["SLURM_JOB_GPUS"] = number_list(share.gpu_indexes);
    }
  }
  std::vector<std::uint32_t> gpus;
  for (const Grant& grant : part.share.share.devices)
    gpus.push_back(part.cluster.device(grant.device).info.index);
  env.erase("SLURM_GPUS_ON_NODE");
  if (gpus.empty()) return;
  env["SLURM_GPUS_ON_NODE"] = number(gpus.size());
  env["SLURM_STEP_GPUS"] = number_list(gpus);
}

std::vector<std::string> step_environment(const Part& part, const Job& job) {
  Environment env;
  for (const std::string& item : part.spec.environment) {
    const std::size_t equals = item.find('=');
    if (equals == std::string::npos || equals == 0) continue;
    env.insert_or_assign(item.substr(0, equals), item.substr(equals + 1));
  }
  // The script's own word for what it is, and where its own step stands.
  env.erase("ENVIRONMENT");
  env.erase("SLURM_STEP_GPUS");
  LaunchFacts facts{.cluster_name = part.cluster.config().settings.cluster_name};
  if (job.array_info) facts.array = *job.array_info;
  describe_request(env, part.job);
  describe_job(env, part.job, facts);
  describe_array(env, part.job, facts);
  describe_nodes(env, part.job);
  describe_step(env, part);
  describe_place(env, part);
  return environment_list(env);
}

// "%t" is the task's number, "%o" its place in its group (--multi-prog).
std::string in_group(std::string_view word, std::uint32_t task, std::uint32_t offset) {
  std::string text;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const char next = word[i] == '%' && i + 1 < word.size() ? word[i + 1] : '\0';
    if (next == 't' || next == 'o') {
      text += number(next == 't' ? task : offset);
      ++i;
    } else {
      text += word[i];
    }
  }
  return text;
}

std::vector<std::string> argv_of(const StepSpec& spec, std::uint32_t task) {
  for (const StepProgram& program : spec.programs) {
    if (program.tasks.empty()) return program.argv;
    const std::vector<std::uint32_t> group = numbers_of(program.tasks);
    const auto place = std::ranges::find(group, task);
    if (place == group.end()) continue;
    std::vector<std::string> argv;
    for (const std::string& word : program.argv) {
      argv.push_back(in_group(word, task, static_cast<std::uint32_t>(place - group.begin())));
    }
    return argv;
  }
  return {};
}

std::string path_of(const Part& part, const std::string& pattern, std::uint32_t task) {
  if (pattern.empty()) return {};
  LogNames names{.job = part.job.id.value(),
                 .array_job = part.job.array ? part.job.array.value() : part.job.id.value(),
                 .job_name = part.job.name,
                 .user = part.job.user,
                 .node = part.node.name(),
                 .node_rank = part.node_rank,
                 .process = task,
                 .step = number(part.step.number),
                 .restarts = part.job.restarts};
  if (part.job.task != kNoTask) names.task = part.job.task;
  const std::string path = expand_log_name(pattern, names);
  return path.starts_with('/') ? path : part.spec.work_dir + "/" + path;
}

// The socket of a CPU, if CPUs are numbered socket by socket; -1 when there is nothing to tell.
std::int32_t socket_of(const Node& node, const std::vector<std::uint32_t>& cpus) {
  if (cpus.empty() || node.inventory.sockets < 2 || node.inventory.cpus == 0) return -1;
  return static_cast<std::int32_t>(std::uint64_t{cpus.front()} * node.inventory.sockets /
                                   node.inventory.cpus);
}

void bind(const Part& part, std::uint32_t local, LaunchTask& task) {
  // Both were checked by srun; words that aren't understood any more bind nothing.
  const auto cpu_words = parse_cpu_bind(part.spec.cpu_bind);
  const auto gpu_words = parse_gpu_bind(part.spec.gpu_bind);
  const StepRequest& request = part.step.request;
  const std::vector<std::uint32_t> cpus = task_cpus(
      request, cpu_words ? cpu_words.value() : BindWords{.type = "none"},
      {.cpus = part.share.share.cpus.list(), .tasks = part.share.share.tasks, .local = local});
  for (const std::uint32_t cpu : cpus) task.cpus.add(cpu);
  std::vector<BindGpu> gpus;
  for (const Grant& grant : part.share.share.devices)
    gpus.push_back({part.cluster.device(grant.device).info.numa});
  for (const std::size_t place :
       task_gpus(request, gpu_words ? gpu_words.value() : BindWords{.type = "none"}, gpus, local,
                 socket_of(part.node, cpus))) {
    task.device_uuids.push_back(
        part.cluster.device(part.share.share.devices[place].device).info.uuid);
  }
  if (part.spec.cpu_bind.empty() || !cpu_words || cpu_words->type.empty()) return;
  const std::string verbosity = cpu_words->verbose ? "verbose" : "quiet";
  const std::string list = join(cpu_words->list, ",");
  task.environment.push_back("SLURM_CPU_BIND=" + verbosity + "," + cpu_words->type +
                             (list.empty() ? "" : ":" + list));
  task.environment.push_back("SLURM_CPU_BIND_VERBOSE=" + verbosity);
  task.environment.push_back("SLURM_CPU_BIND_TYPE=" + cpu_words->type + (list.empty() ? "" : ":"));
  task.environment.push_back("SLURM_CPU_BIND_LIST=" + list);
}

LaunchTask make_task(const Part& part, std::uint32_t local) {
  const std::uint32_t id = part.tasks[local];
  LaunchTask task{.id = id, .argv = argv_of(part.spec, id)};
  task.environment = {"SLURM_LOCALID=" + number(local), "SLURM_PROCID=" + number(id)};
  task.stdin_path = path_of(part, part.spec.stdin_path, id);
  task.stdout_path = path_of(part, part.spec.stdout_path, id);
  task.stderr_path = path_of(part, part.spec.stderr_path, id);
  bind(part, local, task);
  return task;
}

}  // namespace

bool is_per_task(std::string_view pattern) {
  LogNames one{.node = "a", .node_rank = 1, .process = 1};
  LogNames other{.node = "b", .node_rank = 2, .process = 2};
  return expand_log_name(pattern, one) != expand_log_name(pattern, other);
}

void fill_step(const Cluster& cluster, const Job& job, const Step& step, const StepSpec& spec,
               const StepShare& share, StepLaunch& launch) {
  const Part part{.cluster = cluster,
                  .step = step,
                  .spec = spec,
                  .share = share,
                  .node = cluster.node(share.share.node),
                  .job = api::job_view(cluster, job, api::Fields{}),
                  .tasks = numbers_of(share.tasks),
                  .node_rank = rank_of(step, share)};
  launch.environment = step_environment(part, job);
  launch.pid_variable = "SLURM_TASK_PID";
  launch.work_dir = spec.work_dir;
  launch.append_output = spec.append_output;
  launch.umask = spec.umask;
  launch.rlimits = spec.rlimits;
  launch.input_task = spec.input_task;
  launch.pty = spec.pty;
  launch.rows = spec.rows;
  launch.columns = spec.columns;
  for (std::uint32_t local = 0; local < part.tasks.size(); ++local)
    launch.tasks.push_back(make_task(part, local));
}

}  // namespace drover::slurm
