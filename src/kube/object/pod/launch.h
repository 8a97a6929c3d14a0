// What a node is given to run a pod: everything resolved, nothing left for it to look up.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "domain/cpu_set.h"
#include "domain/pod.h"
#include "kube/json/value.h"

namespace drover::kube {

// A config map or secret of the pod's namespace by name.
using FindObject = std::function<std::optional<Value>(std::string_view name)>;

struct LaunchLookups {
  FindObject config_map;
  FindObject secret;
  // A token of the pod's account for that audience ("": the API server).
  std::function<Result<std::string>(std::string_view audience, std::int64_t seconds)> account_token;
  std::vector<std::string> device_uuids;  // granted to the pod, in index order
  CpuSet cpus;                            // granted to the pod
  Bytes memory;
  std::uint32_t user = 0;  // the job's
  std::uint32_t group = 0;
  std::vector<std::uint32_t> more_groups;
  std::string node_name;
  std::string host_ip;
  std::string pod_ip;               // "" where the pod has its node's
  std::int64_t node_cpu_milli = 0;  // what the downward API gives for a limit that isn't set
  std::int64_t node_memory = 0;
  std::int64_t node_disk = 0;
  bool host_network = true;              // the cluster's way for pods that don't say hostNetwork
  std::vector<std::string> environment;  // of every container, before its own: NAME=value
};

// `pod` has its defaults and has passed validate_pod. What is missing for one container (a secret,
// a key) stands in its `error`, in the words of a node agent, and fails nothing else. Errc::invalid
// only for a manifest without containers.
[[nodiscard]] Result<PodLaunch> launch_of(const Value& pod, const LaunchLookups& lookups);

}  // namespace drover::kube
