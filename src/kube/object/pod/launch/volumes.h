// A pod's volumes with the files of config maps, secrets and the downward API in them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "domain/pod.h"
#include "kube/object/pod/launch.h"

namespace drover::kube {

struct Volumes {
  std::vector<PodVolume> list;
  std::map<std::string, std::string> errors;  // by volume: why it can't be made yet
};

[[nodiscard]] Volumes volumes_of(const Value& pod, const LaunchLookups& lookups);

}  // namespace drover::kube
