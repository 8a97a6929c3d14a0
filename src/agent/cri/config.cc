// What a container is asked to be, in the words of the container runtime interface. What gives rights
// (devices, capabilities, paths of the kernel) comes from the specification alone: a user's labels and
// environment name none.
#include <algorithm>
#include <string>

#include "agent/cri/client.h"
#include "agent/cri/labels.h"
#include "runtime.pb.h"

namespace drover::agent::cri {
namespace {

namespace rt = ::runtime::v1;

constexpr std::int64_t kPeriodUs = 100'000;
constexpr std::int64_t kLeastShares = 2;
constexpr std::int64_t kLeastQuotaUs = 1000;

// containerd masks nothing by itself when it is asked by this interface.
constexpr const char* kMasked[] = {
    "/proc/asound",     "/proc/acpi",        "/proc/kcore",       "/proc/keys", "/proc/latency_stats",
    "/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug", "/proc/scsi", "/sys/firmware",
    "/sys/devices/virtual/powercap"};
constexpr const char* kReadOnly[] = {"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"};

void fill(rt::NamespaceOption& to, const SandboxSpec& spec) {
  to.set_network(spec.host_network ? rt::NODE : rt::POD);
  to.set_ipc(spec.host_ipc ? rt::NODE : rt::POD);
  to.set_pid(spec.host_pid ? rt::NODE : spec.share_pids ? rt::POD : rt::CONTAINER);
}

void fill(rt::SandboxConfig& to, const SandboxSpec& spec, const std::string& node) {
  to.mutable_metadata()->set_name(spec.name);
  to.mutable_metadata()->set_uid(spec.uid);
  to.mutable_metadata()->set_namespace_(spec.space);
  to.mutable_metadata()->set_attempt(spec.attempt);
  if (!spec.host_network) to.set_hostname(spec.host_name);
  to.set_log_directory(spec.log_folder);
  auto& labels = *to.mutable_labels();
  for (const auto& [name, value] : spec.labels) {
    if (is_own_label(name)) continue;
    labels[name] = value;
  }
  labels[kPodLabel] = spec.pod;
  labels[kNodeLabel] = node;
  labels["io.kubernetes.pod.name"] = spec.name;
  labels["io.kubernetes.pod.namespace"] = spec.space;
  labels["io.kubernetes.pod.uid"] = spec.uid;
  to.mutable_linux()->set_cgroup_parent(spec.cgroup_parent);
  auto& security = *to.mutable_linux()->mutable_security();
  security.set_privileged(spec.privileged);
  fill(*security.mutable_namespaces(), spec);
}

void fill(rt::ContainerSecurity& to, const ContainerSpec& spec) {
  const PodSecurity& security = spec.security;
  to.set_privileged(security.privileged);
  fill(*to.mutable_namespaces(), spec.sandbox);
  if (security.user) to.mutable_run_as_user()->set_value(*security.user);
  if (security.user && security.group) to.mutable_run_as_group()->set_value(*security.group);
  for (const std::uint32_t group : spec.groups) to.add_supplemental_groups(group);
  to.set_readonly_rootfs(security.read_only_root);
  to.set_no_new_privs(!security.may_gain_privileges && !security.privileged);
  if (security.privileged) return;
  for (const std::string& name : security.add_capabilities) to.mutable_capabilities()->add_add(name);
  for (const std::string& name : security.drop_capabilities) to.mutable_capabilities()->add_drop(name);
  for (const char* path : kMasked) to.add_masked_paths(path);
  for (const char* path : kReadOnly) to.add_readonly_paths(path);
  to.mutable_seccomp()->set_kind(rt::SecurityProfile::RUNTIME_DEFAULT);
}

void fill(rt::Resources& to, const ContainerSpec& spec) {
  to.set_cpu_shares(std::max(kLeastShares, spec.cpu_request_milli * 1024 / 1000));
  if (spec.cpu_limit_milli > 0) {
    to.set_cpu_period(kPeriodUs);
    to.set_cpu_quota(std::max(kLeastQuotaUs, spec.cpu_limit_milli * kPeriodUs / 1000));
  }
  to.set_memory_limit_in_bytes(spec.memory_limit);
  std::string cpus;
  for (const std::uint32_t cpu : spec.cpus.list()) cpus += (cpus.empty() ? "" : ",") + std::to_string(cpu);
  to.set_cpuset_cpus(cpus);
}

void fill(rt::ContainerConfig& to, const ContainerSpec& spec, const std::string& node) {
  to.mutable_metadata()->set_name(spec.name);
  to.mutable_metadata()->set_attempt(spec.run);
  to.mutable_image()->set_image(spec.image);
  for (const std::string& word : spec.command) to.add_command(word);
  for (const std::string& word : spec.arguments) to.add_args(word);
  to.set_working_dir(spec.work_dir);
  for (const std::string& variable : spec.environment) {
    const std::size_t equals = variable.find('=');
    auto& pair = *to.add_envs();
    pair.set_key(variable.substr(0, equals));
    if (equals != std::string::npos) pair.set_value(variable.substr(equals + 1));
  }
  for (const BindMount& mount : spec.mounts) {
    auto& one = *to.add_mounts();
    one.set_host_path(mount.source);
    one.set_container_path(mount.target);
    one.set_readonly(mount.read_only);
  }
  for (const std::string& file : spec.devices) {
    auto& device = *to.add_devices();
    device.set_host_path(file);
    device.set_container_path(file);
    device.set_permissions("rw");
  }
  auto& labels = *to.mutable_labels();
  labels[kPodLabel] = spec.sandbox.pod;
  labels[kNodeLabel] = node;
  labels["io.kubernetes.container.name"] = spec.name;
  labels["io.kubernetes.pod.name"] = spec.sandbox.name;
  labels["io.kubernetes.pod.namespace"] = spec.sandbox.space;
  labels["io.kubernetes.pod.uid"] = spec.sandbox.uid;
  to.set_log_path(spec.log_path);
  to.set_stdin(spec.input);
  to.set_stdin_once(spec.input_once);
  to.set_tty(spec.terminal);
  fill(*to.mutable_linux()->mutable_resources(), spec);
  fill(*to.mutable_linux()->mutable_security(), spec);
}

}  // namespace

bool is_own_label(std::string_view name) {
  for (const std::string_view prefix :
       {"drover.", "io.kubernetes.", "cdi.k8s.io", "io.containerd.", "io.cri-containerd"}) {
    if (name.starts_with(prefix)) return true;
  }
  return false;
}

std::string container_config(const ContainerSpec& spec, const std::string& node) {
  rt::ContainerConfig config;
  fill(config, spec, node);
  return config.SerializeAsString();
}

std::string sandbox_config(const SandboxSpec& spec, const std::string& node) {
  rt::SandboxConfig config;
  fill(config, spec, node);
  return config.SerializeAsString();
}

}  // namespace drover::agent::cri
