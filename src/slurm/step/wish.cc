#include "slurm/step/wish.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "slurm/exit.h"
#include "slurm/launch/describe.h"
#include "slurm/launch/step.h"
#include "slurm/script/request.h"

namespace drover::slurm {
namespace {

constexpr std::uint32_t kInputToAll = 0xFFFFFFFF;
constexpr std::uint32_t kInputToNone = 0xFFFFFFFE;

Error wrong(std::string_view text) { return {Errc::invalid, error_line("srun", text)}; }

// How many tasks, and on how many nodes, of a step in a job that is there. SLURM_NTASKS and its kin
// tell of the job: what was typed for this step wins over them.
void size_inside(const StepOptions& options, StepRequest& request) {
  const SbatchOptions& job = options.job;
  const bool per_node_typed = options.given("ntasks-per-node") || options.given("tasks-per-node");
  if (job.nodes) {
    request.min_nodes = job.nodes->least;
    request.max_nodes = job.nodes->most;
  }
  if (!options.given("nodes") && options.given("nodelist")) {
    request.min_nodes = request.max_nodes = static_cast<std::uint32_t>(job.nodelist.size());
  }
  if (job.ntasks && (options.given("ntasks") || !per_node_typed)) request.tasks = *job.ntasks;
  if (job.ntasks_per_node && (per_node_typed || !options.given("ntasks"))) {
    request.tasks_per_node = *job.ntasks_per_node;
  }
  request.first_node = options.relative.value_or(0);
  request.include_nodes = job.nodelist;
  request.exclude_nodes = job.exclude;
}

void set_memory(const SbatchOptions& job, StepRequest& request) {
  const auto set = [&](MemoryRule rule, std::int64_t amount) {
    if (amount == 0) return;  // all of the job's: as without the option
    request.memory_rule = rule;
    request.memory = mebibytes(amount);
  };
  if (job.mem_per_cpu_mib.set()) return set(MemoryRule::per_cpu, job.mem_per_cpu_mib.value);
  if (job.mem_per_gpu_mib.set()) return set(MemoryRule::per_gpu, job.mem_per_gpu_mib.value);
  if (job.mem_mib.set()) set(MemoryRule::per_node, job.mem_mib.value);
}

Result<StepRequest> make_request(const StepOptions& options, const StepFacts& facts) {
  const SbatchOptions& job = options.job;
  StepRequest request;
  if (job.cpus_per_task.set()) request.cpus_per_task = job.cpus_per_task.value;
  request.gpus_per_task = TRY(gpu_asks(job.gpus_per_task, "srun"));
  request.overcommit = job.overcommit;
  request.distribution = options.distribution.value_or(Distribution::block);
  request.plane = options.plane;
  if (!facts.inside) {  // the whole job is the step's
    request.tasks = job.ntasks.value_or(0);
    request.tasks_per_node = job.ntasks_per_node.value_or(0);
    if (request.distribution == Distribution::arbitrary) request.include_nodes = job.nodelist;
    return request;
  }
  size_inside(options, request);
  set_memory(job, request);
  request.no_gpus = options.no_gpus;
  if (!options.no_gpus) {
    request.gpus_per_node =
        TRY(gpu_asks(job.gpus_per_node.empty() ? job.gres : job.gpus_per_node, "srun"));
    request.gpus = TRY(gpu_asks(job.gpus, "srun"));
  }
  request.exact = options.exact;
  request.overlap = options.overlap;
  return request;
}

struct PlannedFile {
  StreamPlan plan;
  std::string path;  // for the nodes
};

PlannedFile plan_file(const std::optional<std::string>& option) {
  PlannedFile planned;
  if (!option || *option == "all") return planned;
  if (*option == "none") {
    planned.plan.none = true;
    planned.path = "/dev/null";
  } else if (const auto task = parse_uint(*option); task && *task < 0xffffffff) {
    planned.plan.task = static_cast<std::uint32_t>(*task);
  } else if (is_per_task(*option)) {
    planned.path = *option;
  } else {
    planned.plan.file = *option;
  }
  return planned;
}

Status plan_streams(const StepOptions& options, MadeStep& step) {
  const SbatchOptions& job = options.job;
  if (options.pty) {
    for (const auto& [name, value] :
         {std::pair{"--input", &job.input}, std::pair{"--output", &job.output},
          std::pair{"--error", &job.error}}) {
      if (*value) return wrong(std::string(name) + " is incompatible with --pty");
    }
  }
  const PlannedFile in = plan_file(job.input);
  const PlannedFile out = plan_file(job.output);
  // Standard error goes where standard output goes, unless it is told otherwise.
  const PlannedFile err = job.error ? plan_file(job.error) : out;
  step.in = in.plan;
  step.out = out.plan;
  step.err = err.plan;
  step.spec.stdin_path = in.plan.none ? "" : in.path;
  step.spec.stdout_path = out.path;
  step.spec.stderr_path = err.path;
  const bool from_nodes = in.plan.none || !step.spec.stdin_path.empty();
  step.spec.input_task =
      from_nodes ? kInputToNone : in.plan.task.value_or(options.pty ? 0 : kInputToAll);
  return Done{};
}

Environment task_environment(const StepOptions& options, const StepFacts& facts,
                             Environment variables) {
  // Words of another job mustn't reach this one's tasks.
  const auto own = facts.environment.find("SLURM_JOB_ID");
  const bool other_job = options.given("jobid") && own != facts.environment.end() &&
                         own->second != std::to_string(*options.job_id);
  if (!facts.inside || other_job) {
    std::erase_if(variables, [](const auto& item) { return tells_of_a_job(item.first); });
  }
  if (!facts.inside) {
    variables["SLURM_SUBMIT_DIR"] = facts.work_dir;
    variables["SLURM_SUBMIT_HOST"] = facts.host;
  }
  return variables;
}

}  // namespace

std::string command_name(const std::vector<std::string>& command) {
  if (command.empty()) return {};
  return command.front().substr(command.front().rfind('/') + 1);
}

void fewer_nodes_than_tasks(StepOptions& options, std::vector<std::string>& warnings) {
  SbatchOptions& job = options.job;
  if (!job.nodes || !job.ntasks || *job.ntasks == 0 || *job.ntasks >= job.nodes->least) return;
  const std::uint32_t tasks = *job.ntasks;
  warnings.push_back("can't run " + std::to_string(tasks) + " processes on " +
                     std::to_string(job.nodes->least) + " nodes, setting nnodes to " +
                     std::to_string(tasks));
  job.nodes = NodeRange{tasks, tasks};
}

Result<MadeStep> make_step(const StepOptions& given, const StepFacts& facts) {
  MadeStep step;
  StepOptions options = given;
  if (!facts.inside && options.relative)
    return wrong("--relative option invalid for job allocation request");
  if (options.relative && options.given("nodelist"))
    return wrong("--relative and --nodelist are mutually exclusive");
  fewer_nodes_than_tasks(options, step.warnings);
  step.wish.name = options.job.job_name.value_or(command_name(facts.command));
  step.wish.request = TRY(make_request(options, facts));
  step.wish.ticket = facts.ticket;
  if (facts.inside && options.job.time_set && options.job.time_limit)
    step.wish.limit = *options.job.time_limit;
  StepSpec& spec = step.spec;
  spec.door = "slurm";
  if (options.multi_prog) {
    auto programs =
        parse_multi_prog(facts.multi_prog, std::max(options.job.ntasks.value_or(1), 1U));
    if (!programs) return wrong(programs.error().message);
    spec.programs = std::move(programs).value();
  } else {
    spec.programs = {{.tasks = {}, .argv = facts.command}};
  }
  spec.work_dir = options.job.chdir.value_or(facts.work_dir);
  if (!spec.work_dir.starts_with('/')) spec.work_dir = facts.work_dir + "/" + spec.work_dir;
  TRY(plan_streams(options, step));
  spec.append_output = options.job.open_mode == OpenMode::append;
  spec.umask = facts.umask;
  spec.rlimits = facts.rlimits;
  spec.pty = options.pty;
  spec.rows = facts.rows;
  spec.columns = facts.columns;
  spec.cpu_bind = options.cpu_bind;
  spec.gpu_bind = options.gpu_bind;
  spec.submit_line = facts.submit_line;
  spec.extra[std::string(kLaunchAddress)] = facts.launch_address;
  Exported passed = TRY(exported(options.job.export_env, facts.environment, "srun"));
  spec.environment =
      environment_list(task_environment(options, facts, std::move(passed.variables)));
  return step;
}

}  // namespace drover::slurm
