#include "kube/rest/resource.h"

namespace drover::kube {

std::string store_table(const Resource& resource) {
  std::string table(resource.name);
  if (!resource.group.empty() && resource.name != "events") table += "." + std::string(resource.group);
  return table;
}

}  // namespace drover::kube
