#include "agent/pod/groups.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "agent/cgroup/directory.h"
#include "base/text.h"
#include "os/file.h"

namespace drover::agent {
namespace {

// Container runtimes put processes into the v1 hierarchies alone where there are any, so only these count;
// where there are none, v2.
CgroupTree tree_of(const std::string& root) {
  const auto table = read_file("/proc/self/mounts");
  if (root.empty() || ::geteuid() != 0 || !table) return CgroupTree::without("We don't run as root.");
  CgroupTree::Mounts mounts = CgroupTree::Mounts::read(*table);
  if (mounts.legacy.contains("memory") || mounts.legacy.contains("pids")) mounts.unified.clear();
  return CgroupTree::on(mounts, root);
}

// Every hierarchy of the machine, whether or not it limits anything.
std::vector<std::string> hierarchies() {
  std::vector<std::string> mounts;
  const auto table = read_file("/proc/self/mounts");
  for (const std::string_view line : split(table ? *table : std::string{}, '\n')) {
    const auto fields = split(line, ' ');
    if (fields.size() >= 3 && (fields[2] == "cgroup" || fields[2] == "cgroup2")) mounts.emplace_back(fields[1]);
  }
  return mounts;
}

void remove_below(const std::string& path) {
  for (const std::string& name : groups_below(path)) remove_below(path + "/" + name);
  ::rmdir(path.c_str());
}

// As one of its containers is weighed: 100 for each CPU.
std::int64_t weight_of(std::int64_t cpu_milli) { return std::clamp<std::int64_t>(cpu_milli / 10, 1, 10'000); }

}  // namespace

PodCgroups::PodCgroups(std::string root, Denied denied)
    : root_(std::move(root)), denied_(std::move(denied)), tree_(tree_of(root_)) {}

Result<std::string> PodCgroups::make(const std::string& pod, const CpuSet& cpus, std::int64_t cpu_milli,
                                     const std::vector<std::string>& device_uuids) {
  if (tree_.backend() == Backend::none) return std::string{};
  Limits limits{.cpu_weight = weight_of(cpu_milli)};
  for (const std::uint32_t cpu : cpus.list()) limits.cpus.push_back(static_cast<std::int32_t>(cpu));
  limits.denied = TRY(denied_(device_uuids));
  TRY(tree_.create(pod, limits));
  return "/" + root_ + "/" + pod;
}

drover::Usage PodCgroups::usage(const std::string& pod) {
  if (tree_.backend() == Backend::none) return {};
  const Usage counted = tree_.open(pod)->usage();
  return {.user_cpu = Duration(counted.cpu_us / 1000), .peak_memory = Bytes::of(counted.peak_memory)};
}

void PodCgroups::remove(const std::string& pod) {
  if (tree_.backend() == Backend::none || !is_safe_name(pod)) return;
  for (const std::string& mount : hierarchies()) remove_below(mount + "/" + root_ + "/" + pod);
}

}  // namespace drover::agent
