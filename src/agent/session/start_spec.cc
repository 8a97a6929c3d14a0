#include "agent/session/start_spec.h"

#include <sys/resource.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace drover::agent {
namespace {

// A fork bomb ends here, long before the machine feels it.
constexpr std::int64_t kMostProcesses = 16'384;

constexpr std::pair<std::string_view, int> kResources[] = {
    {"as", RLIMIT_AS},           {"core", RLIMIT_CORE},     {"cpu", RLIMIT_CPU},     {"data", RLIMIT_DATA},
    {"fsize", RLIMIT_FSIZE},     {"memlock", RLIMIT_MEMLOCK}, {"nofile", RLIMIT_NOFILE}, {"nproc", RLIMIT_NPROC},
    {"rss", RLIMIT_RSS},         {"stack", RLIMIT_STACK}};

std::vector<ResourceLimit> resource_limits(const std::map<std::string, std::int64_t>& wanted) {
  std::vector<ResourceLimit> limits;
  for (const auto& [name, resource] : kResources) {
    const auto found = wanted.find(std::string(name));
    if (found == wanted.end()) continue;
    rlimit ours{};
    if (::getrlimit(static_cast<__rlimit_resource>(resource), &ours) != 0) continue;
    // The submitter's soft limit, within the hard one of this node.
    const auto soft = found->second < 0 ? RLIM_INFINITY : static_cast<rlim_t>(found->second);
    limits.push_back({.resource = resource, .soft = std::min(soft, ours.rlim_max), .hard = ours.rlim_max});
  }
  return limits;
}

std::vector<std::int32_t> cpu_numbers(const CpuSet& cpus) {
  std::vector<std::int32_t> numbers;
  for (const std::uint32_t cpu : cpus.list()) numbers.push_back(static_cast<std::int32_t>(cpu));
  return numbers;
}

}  // namespace

SignalScope scope_of(SignalTarget target) {
  switch (target) {
    case SignalTarget::steps: return SignalScope::all_but_main;
    case SignalTarget::batch: return SignalScope::main_only;
    case SignalTarget::all: return SignalScope::all;
  }
  return SignalScope::all;
}

StartSpec start_spec(const Launch& launch, const std::string& script) {
  StartSpec spec{.argv = {"script"},
                 .script = script,
                 .environment = launch.environment,
                 .uid = launch.uid,
                 .gid = launch.gid,
                 .cwd = launch.work_dir,
                 .umask = launch.umask,
                 .rlimits = resource_limits(launch.rlimits),
                 .stdin_path = launch.stdin_path,
                 .stdout_path = launch.stdout_path,
                 .stderr_path = launch.stderr_path,
                 .append = launch.append_output,
                 .time_limit = launch.limit,
                 .warn_signal = static_cast<std::int32_t>(launch.warn.signal),
                 .warn_before = launch.warn.before,
                 .warn_scope = scope_of(launch.warn.target),
                 .grace = launch.grace,
                 .no_new_privileges = launch.no_new_privs};
  spec.argv.insert(spec.argv.end(), launch.arguments.begin(), launch.arguments.end());
  spec.limits.memory_bytes = launch.memory.count();
  spec.limits.pids = kMostProcesses;
  spec.limits.cpus = cpu_numbers(launch.cpus);
  for (const std::string& uuid : launch.device_uuids) spec.devices.push_back({.device = uuid});
  return spec;
}

PartSpec part_spec(const StepLaunch& launch) {
  PartSpec spec{.environment = launch.environment,
                .pid_variable = launch.pid_variable,
                .uid = launch.uid,
                .gid = launch.gid,
                .cwd = launch.work_dir,
                .umask = launch.umask,
                .rlimits = resource_limits(launch.rlimits),
                .append = launch.append_output,
                .input_task = launch.input_task,
                .pty = launch.pty,
                .rows = launch.rows,
                .columns = launch.columns,
                .job_devices = launch.job_device_uuids,
                .time_limit = launch.limit,
                .grace = launch.grace,
                .no_new_privileges = launch.no_new_privs,
                .ticket = launch.ticket};
  spec.job_limits = {.memory_bytes = launch.job_memory.count(),
                     .pids = kMostProcesses,
                     .cpus = cpu_numbers(launch.job_cpus)};
  spec.limits = {.memory_bytes = launch.memory.count(), .cpus = cpu_numbers(launch.cpus)};
  for (const std::string& uuid : launch.device_uuids) spec.devices.push_back({.device = uuid});
  for (const LaunchTask& task : launch.tasks) {
    spec.tasks.push_back({.id = task.id, .argv = task.argv, .environment = task.environment,
                          .cpus = cpu_numbers(task.cpus), .stdin_path = task.stdin_path,
                          .stdout_path = task.stdout_path, .stderr_path = task.stderr_path,
                          .devices = task.device_uuids});
  }
  return spec;
}

}  // namespace drover::agent
