#include "slurm/script/request.h"

#include <utility>

#include "base/text.h"
#include "slurm/exit.h"
#include "slurm/launch/environment.h"

namespace drover::slurm {

std::string_view failed_words(std::string_view program) {
  return program == "sbatch" ? "Batch job submission failed: " : "Unable to allocate resources: ";
}

Result<std::vector<GpuAsk>> gpu_asks(const std::vector<Gres>& list, std::string_view program) {
  const auto failed = [&](std::string_view why) {
    return error_line(program, failed_words(program)).append(why);
  };
  std::vector<GpuAsk> asks;
  for (const Gres& gres : list) {
    if (gres.name != "gpu") {
      return Error{Errc::denied, failed("Invalid generic resource (gres) specification") + "\n" +
                                     error_line(program, "the only generic resource is gpu, '" +
                                                             printable(gres.name) + "' is none")};
    }
    if (gres.count > 0xffffffff) {
      return Error{Errc::denied, failed("Requested node configuration is not available")};
    }
    if (gres.count > 0)
      asks.push_back({.model = gres.type, .count = static_cast<std::uint32_t>(gres.count)});
  }
  return asks;
}

namespace {

void set_memory(Request& request, const SbatchOptions& options) {
  if (options.mem_per_cpu_mib.set()) {
    request.memory_rule = MemoryRule::per_cpu;
    request.memory = mebibytes(options.mem_per_cpu_mib.value);
  } else if (options.mem_per_gpu_mib.set()) {
    request.memory_rule = MemoryRule::per_gpu;
    request.memory = mebibytes(options.mem_per_gpu_mib.value);
  } else if (options.mem_mib.set()) {
    request.memory_rule =
        options.mem_mib.value == 0 ? MemoryRule::whole_node : MemoryRule::per_node;
    request.memory = mebibytes(options.mem_mib.value);
  }
}

Result<Request> make_request(const SbatchOptions& options, std::string_view program) {
  Request request;
  if (options.nodes) {
    request.min_nodes = options.nodes->least;
    request.max_nodes = options.nodes->most;
  }
  request.tasks = options.ntasks.value_or(0);
  request.tasks_per_node = options.ntasks_per_node.value_or(0);
  if (options.cpus_per_task.set()) request.cpus_per_task = options.cpus_per_task.value;
  if (options.cpus_per_gpu.set()) request.cpus_per_gpu = options.cpus_per_gpu.value;
  set_memory(request, options);
  request.gpus_per_node =
      TRY(gpu_asks(options.gpus_per_node.empty() ? options.gres : options.gpus_per_node, program));
  request.gpus_per_task = TRY(gpu_asks(options.gpus_per_task, program));
  request.gpus_per_job = TRY(gpu_asks(options.gpus, program));
  request.gpu_condition = options.extra.value_or("");
  request.features = options.constraint.value_or("");
  request.include_nodes = options.nodelist;
  request.exclude_nodes = options.exclude;
  request.exclusive = options.exclusive;
  request.overcommit = options.overcommit;
  request.contiguous = options.contiguous;
  request.threads_per_core = options.threads_per_core.value_or(0);
  if (options.hint == Hint::nomultithread) request.threads_per_core = 1;
  if (options.hint == Hint::memory_bound) {
    return Error{
        Errc::invalid,
        error_line(program,
                   "--hint=memory_bound is not supported by drover yet: use --cpus-per-task")};
  }
  return request;
}

ArrayPending make_array(const ArraySpec& spec) {
  ArrayPending array{.throttle = spec.at_once,
                     .total = static_cast<std::uint32_t>(spec.tasks.size()),
                     .min = spec.tasks.front(),
                     .max = spec.tasks.back()};
  const auto& tasks = spec.tasks;
  bool even = tasks.size() > 1;
  for (std::size_t i = 2; i < tasks.size(); ++i)
    even = even && tasks[i] - tasks[i - 1] == tasks[1] - tasks[0];
  if (even) array.step = tasks[1] - tasks[0];
  if (even && array.step > 1) {
    array.tasks = {{tasks.front(), tasks.back(), array.step}};
  } else {
    for (const std::uint32_t task : tasks) {
      if (!array.tasks.empty() && array.tasks.back().last + 1 == task) {
        array.tasks.back().last = task;
      } else {
        array.tasks.push_back({task, task, 1});
      }
    }
  }
  array.text = print_tasks(tasks, 0) + (spec.at_once > 0 ? "%" + std::to_string(spec.at_once) : "");
  return array;
}

drover::DependencyKind kind_of(DependencyKind kind) {
  switch (kind) {
    case DependencyKind::after:
      return drover::DependencyKind::after;
    case DependencyKind::after_any:
      return drover::DependencyKind::after_any;
    case DependencyKind::after_ok:
      return drover::DependencyKind::after_ok;
    case DependencyKind::after_not_ok:
      return drover::DependencyKind::after_not_ok;
    case DependencyKind::after_corr:
      return drover::DependencyKind::after_corr;
    case DependencyKind::singleton:
      return drover::DependencyKind::singleton;
  }
  return drover::DependencyKind::after_any;
}

Dependency make_dependency(const SbatchOptions& options) {
  Dependency dependency;
  if (!options.dependency) return dependency;
  dependency.any = options.dependency->any;
  dependency.cancel_if_never = options.kill_on_invalid_dep.value_or(false);
  for (const DependencySpec& spec : options.dependency->list) {
    dependency.terms.push_back({.kind = kind_of(spec.kind),
                                .job = JobId(spec.job),
                                .task = spec.task.value_or(kNoTask),
                                .delay = minutes(spec.delay_minutes)});
  }
  return dependency;
}

JobSpec make_spec(const SbatchOptions& options, const SubmitFacts& facts) {
  JobSpec spec{.door = "slurm",
               .arguments = facts.arguments,
               .umask = facts.umask,
               .rlimits = facts.rlimits,
               .command = facts.script_path,
               .submit_line = facts.submit_line,
               .submit_host = facts.host,
               .session_id = facts.session_id};
  spec.work_dir = options.chdir.value_or(facts.work_dir);
  if (!spec.work_dir.starts_with('/')) spec.work_dir = facts.work_dir + "/" + spec.work_dir;
  spec.stdin_path = options.input.value_or("");
  spec.stdout_path = options.output.value_or("");
  spec.stderr_path = options.error.value_or("");
  spec.append_output = options.open_mode == OpenMode::append;
  spec.comment = options.comment.value_or("");
  spec.wckey = options.wckey.value_or("");
  spec.mail_user = options.mail_user.value_or("");
  spec.mail_types = join(options.mail_types, ",");
  if (options.signal) {
    spec.warn = {
        .signal = static_cast<std::uint32_t>(options.signal->number),
        .before = seconds(options.signal->before_end_s),
        .target = options.signal->batch_shell_only ? SignalTarget::batch : SignalTarget::steps};
  }
  // What only this door needs again, when it tells the job about itself.
  spec.extra["submit_dir"] = facts.work_dir;
  if (options.cpus_per_task.set())
    spec.extra["cpus_per_task"] = std::to_string(options.cpus_per_task.value);
  if (!options.gpus_per_node.empty()) spec.extra["gpus_per_node"] = "1";
  if (!options.dependency_text.empty()) spec.extra["dependency"] = options.dependency_text;
  if (options.hint == Hint::multithread) spec.extra["hint"] = "multithread";
  if (options.hint == Hint::nomultithread) spec.extra["hint"] = "nomultithread";
  if (options.hint == Hint::compute_bound) spec.extra["hint"] = "compute_bound";
  if (options.wait_all_nodes) spec.extra["wait_all_nodes"] = *options.wait_all_nodes ? "1" : "0";
  if (options.export_env && !iequals(*options.export_env, "ALL"))
    spec.extra["export"] = *options.export_env;
  for (const auto& [name, value] : options.foreign) spec.extra["foreign." + name] = value;
  return spec;
}

}  // namespace

Result<api::Execute> make_submit(const SbatchOptions& options, const SubmitFacts& facts) {
  Submit submit;
  submit.name = options.job_name.value_or(facts.default_name);
  submit.account = options.account.value_or("");
  submit.qos = options.qos.value_or("");
  submit.partitions = options.partition.value_or("");
  submit.request = TRY(make_request(options, facts.program));
  if (options.begin) submit.begin = Instant(seconds(*options.begin));
  if (options.deadline) submit.deadline = Instant(seconds(*options.deadline));
  if (options.time_min) submit.min_limit = *options.time_min;
  if (options.time_set)
    submit.limit = options.time_limit ? Duration(*options.time_limit) : Duration(0);
  if (options.priority) {
    // 0 is Slurm's way to say "held".
    if (*options.priority == 0) {
      submit.hold = true;
    } else {
      submit.priority = *options.priority;
    }
  }
  submit.nice = static_cast<std::int32_t>(options.nice.value_or(0));
  submit.hold = submit.hold || options.hold;
  submit.requeue = options.requeue.value_or(true);
  if (options.array) submit.array = make_array(*options.array);
  submit.dependency = make_dependency(options);
  api::Execute wish;
  wish.command = std::move(submit);
  wish.spec = make_spec(options, facts);
  wish.script = facts.script;
  wish.environment = encode_environment(facts.environment);
  return wish;
}

}  // namespace drover::slurm
