#include "kube/object/pod/launch.h"

#include <algorithm>

#include "kube/object/pod/launch/container.h"
#include "kube/object/pod/launch/volumes.h"
#include "kube/object/pod/parts.h"

namespace drover::kube {
namespace {

constexpr std::size_t kMaxHostName = 63;

RestartPolicy restart_of(std::string_view word) {
  if (word == "Never") return RestartPolicy::never;
  return word == "OnFailure" ? RestartPolicy::on_failure : RestartPolicy::always;
}

// A host name is one label: a long pod name is cut, and doesn't end in a dash then.
std::string host_name_of(const Value& pod) {
  const std::string_view given = text_at(pod, "spec.hostname");
  std::string name(given.empty() ? text_at(pod, "metadata.name") : given);
  name.resize(std::min(name.size(), kMaxHostName));
  while (!name.empty() && (name.back() == '-' || name.back() == '.')) name.pop_back();
  return name;
}

std::vector<std::string> alias_lines(const Value& pod) {
  std::vector<std::string> lines;
  const Array* aliases = array_at(pod, "spec.hostAliases");
  if (aliases == nullptr) return lines;
  for (const Value& alias : *aliases) {
    std::string line(text_at(alias, "ip"));
    if (const Array* names = array_at(alias, "hostnames")) {
      for (const Value& name : *names) line.append("\t").append(text(&name));
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

// The owner of the pod's files on its node is who its containers run as, where that is said.
void read_owner(PodLaunch& launch, const Value& pod, const LaunchLookups& lookups) {
  launch.user = lookups.user;
  launch.group = lookups.group;
  launch.more_groups = lookups.more_groups;
  launch.fs_group = integer_at(pod, "spec.securityContext.fsGroup");
  if (const Array* groups = array_at(pod, "spec.securityContext.supplementalGroups")) {
    for (const Value& one : *groups) {
      const auto group = static_cast<std::uint32_t>(integer(&one).value_or(lookups.group));
      if (std::ranges::find(launch.more_groups, group) == launch.more_groups.end()) {
        launch.more_groups.push_back(group);
      }
    }
  }
}

void read_host(PodLaunch& launch, const Value& pod, const LaunchLookups& lookups) {
  launch.host_network = lookups.host_network || flag_at(pod, "spec.hostNetwork");
  launch.host_pid = flag_at(pod, "spec.hostPID");
  launch.host_ipc = flag_at(pod, "spec.hostIPC");
  launch.share_pids = flag_at(pod, "spec.shareProcessNamespace");
  launch.host_aliases = alias_lines(pod);
}

void note_volume_errors(PodContainer& container, const Volumes& volumes) {
  for (const PodMount& mount : container.mounts) {
    const auto error = volumes.errors.find(mount.volume);
    if (container.error.empty() && error != volumes.errors.end()) container.error = error->second;
  }
}

}  // namespace

Result<PodLaunch> launch_of(const Value& pod, const LaunchLookups& lookups) {
  const std::vector<ContainerPart> parts = containers_of(pod);
  if (parts.empty()) return Error{Errc::invalid, "the pod has no containers"};
  PodLaunch launch{
      .name = std::string(text_at(pod, "metadata.name")),
      .space = std::string(text_at(pod, "metadata.namespace")),
      .uid = std::string(text_at(pod, "metadata.uid")),
      .host_name = host_name_of(pod),
      .restart = restart_of(text_at(pod, "spec.restartPolicy")),
      .grace = seconds(integer_at(pod, "spec.terminationGracePeriodSeconds").value_or(30)),
      .deadline = seconds(integer_at(pod, "spec.activeDeadlineSeconds").value_or(0))};
  read_owner(launch, pod, lookups);
  read_host(launch, pod, lookups);
  if (const Object* labels = object_at(pod, "metadata.labels")) {
    for (const auto& entry : *labels) launch.labels[entry.key()] = text(&entry.value());
  }
  launch.cpus = lookups.cpus;
  launch.memory = lookups.memory;
  launch.device_uuids = lookups.device_uuids;
  Volumes volumes = volumes_of(pod, lookups);
  for (const ContainerPart& part : parts) {
    launch.containers.push_back(container_of(pod, part, lookups));
    note_volume_errors(launch.containers.back(), volumes);
  }
  launch.volumes = std::move(volumes.list);
  share_devices(launch, parts);
  return launch;
}

}  // namespace drover::kube
