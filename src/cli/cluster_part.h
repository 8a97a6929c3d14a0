// The parts of a cluster file, one function each. Internal to cluster_file.cc.
#pragma once

#include <vector>

#include "base/result.h"
#include "cli/cluster_file.h"
#include "cli/yaml_value.h"

namespace drover::cli {

// One entry of `nodes:`; its name may stand for several nodes.
[[nodiscard]] Result<std::vector<NodeDeclaration>> read_node(const YamlValue& entry);
// The GPUs of one node: `gpus:`, a mapping or a list of mappings.
[[nodiscard]] Result<std::vector<DeviceInfo>> read_gpus(const YamlValue& gpus, const std::string& node);
[[nodiscard]] Result<Partition> read_partition(const YamlValue& entry);
[[nodiscard]] Result<Settings> read_settings(const YamlValue& entry);

}  // namespace drover::cli
