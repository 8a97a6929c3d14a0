#include "domain/cpu_set.h"

namespace drover {

std::string CpuSet::text() const {
  std::string text;
  const std::vector<std::uint32_t> cpus = list();
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t end = i;
    while (end + 1 < cpus.size() && cpus[end + 1] == cpus[end] + 1) ++end;
    if (!text.empty()) text += ',';
    text += std::to_string(cpus[i]);
    if (end > i) text += '-' + std::to_string(cpus[end]);
    i = end + 1;
  }
  return text;
}

}  // namespace drover
