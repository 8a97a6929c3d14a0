#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "agent/cgroup/cgroup.h"
#include "agent/cgroup/directory.h"
#include "agent/cgroup/legacy.h"
#include "agent/cgroup/nested.h"
#include "agent/cgroup/none.h"
#include "agent/cgroup/unified.h"
#include "base/text.h"
#include "os/file.h"

namespace drover::agent {
namespace {

constexpr std::array<std::string_view, 7> kLegacyControllers{"memory", "pids",    "cpuset", "cpu",
                                                             "cpuacct", "devices", "freezer"};
constexpr std::array<std::string_view, 4> kUnifiedControllers{"memory", "pids", "cpuset", "cpu"};

bool has_word(std::string_view text, std::string_view wanted, char separator) {
  const auto words = split(trim(text), separator);
  return std::find(words.begin(), words.end(), wanted) != words.end();
}

// Walks down `root` under `mount`, making each level ready for children of its own.
template <class Prepare>
Result<std::string> make_root(const std::string& mount, const std::string& root, Prepare prepare) {
  std::string at = mount;
  prepare(at, std::string{});
  for (const std::string_view part : split(root, '/')) {
    if (!is_safe_name(part)) return Error{Errc::invalid, "bad name of a cgroup: " + printable(root)};
    const std::string above = at;
    at.append("/").append(part);
    TRY(make_group(at));
    prepare(at, above);
  }
  return at;
}

// A fresh v1 cpuset has neither CPUs nor memory nodes, and nothing may enter until it does.
void inherit_cpuset(const std::string& at, const std::string& above) {
  if (above.empty()) return;
  for (const char* const file : {"/cpuset.cpus", "/cpuset.mems"}) {
    const auto mine = read_file(at + file);
    const auto theirs = read_file(above + file);
    if (!mine || !theirs || !trim(*mine).empty()) continue;
    [[maybe_unused]] const Status written = write_value(at + file, trim(*theirs));
  }
}

void hand_controllers_down(const std::string& at, const std::string&) {
  const auto available = read_file(at + "/cgroup.controllers");
  if (!available) return;
  for (const std::string_view controller : kUnifiedControllers) {
    if (!has_word(*available, controller, ' ')) continue;
    [[maybe_unused]] const Status written = write_value(at + "/cgroup.subtree_control", "+" + std::string(controller));
  }
}

constexpr int kStepTries = 10;

void keep_as_is(const std::string&, const std::string&) {}

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kLimited{
    {{"memory", "Memory"}, {"pids", "The number of processes"}, {"cpuset", "The set of CPUs"}, {"cpu", "CPU time"}}};

}  // namespace

bool is_safe_name(std::string_view name) {
  if (name.empty() || name.size() > 128 || name == "." || name == "..") return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
  });
}

CgroupTree::Mounts CgroupTree::Mounts::read(std::string_view mount_table) {
  Mounts mounts;
  for (const std::string_view line : split(mount_table, '\n')) {
    const auto fields = split(line, ' ');
    if (fields.size() < 4) continue;
    if (fields[2] == "cgroup2" && mounts.unified.empty()) mounts.unified = fields[1];
    if (fields[2] != "cgroup") continue;
    for (const std::string_view controller : kLegacyControllers) {
      if (has_word(fields[3], controller, ',')) mounts.legacy.emplace(controller, fields[1]);
    }
  }
  return mounts;
}

CgroupTree CgroupTree::detect(const std::string& root) {
  if (::geteuid() != 0) return without("We don't run as root.");
  const auto table = read_file("/proc/self/mounts");
  return on(table ? Mounts::read(*table) : Mounts{}, root);
}

CgroupTree CgroupTree::without(std::string reason) {
  CgroupTree tree;
  tree.off_ = {std::move(reason), "Memory, number of processes and CPU time of jobs aren't limited.",
               "Jobs are bound to their CPUs, but could leave them.",
               "Jobs can open every device that their user may open."};
  return tree;
}

CgroupTree CgroupTree::on(const Mounts& mounts, const std::string& root) {
  [[maybe_unused]] const auto& read_before_forks = online_cpus();
  CgroupTree tree;
  const bool limits_in_legacy = mounts.legacy.contains("memory") || mounts.legacy.contains("pids");
  if (!mounts.unified.empty()) {
    const auto made = make_root(mounts.unified, root, [&](const std::string& at, const std::string& above) {
      limits_in_legacy ? keep_as_is(at, above) : hand_controllers_down(at, above);
    });
    if (made) tree.unified_ = *made;
  }
  if (!limits_in_legacy && tree.unified_.empty()) {
    return without("There is no cgroup file system that we may write to.");
  }
  std::string have;
  if (limits_in_legacy) {
    for (const auto& [controller, mount] : mounts.legacy) {
      // With v2 beside them, these three only cost time; devices stay for kernels without BPF.
      if (!tree.unified_.empty() && (controller == "freezer" || controller == "cpuacct")) continue;
      const auto made = make_root(mount, root, controller == "cpuset" ? inherit_cpuset : keep_as_is);
      if (made) tree.legacy_.emplace(controller, *made);
    }
    if (tree.unified_.empty() && !tree.legacy_.contains("freezer")) {
      return without("There is neither cgroup v2 nor the v1 freezer.");
    }
    for (const auto& [controller, path] : tree.legacy_) have += controller + " ";
  } else {
    if (const auto handed = read_file(tree.unified_ + "/cgroup.subtree_control")) have = *handed;
  }
  for (const auto& [controller, what] : kLimited) {
    if (!has_word(have, controller, ' ')) tree.off_.push_back(not_offered(what));
  }
  tree.backend_ = !limits_in_legacy ? Backend::v2 : tree.unified_.empty() ? Backend::v1 : Backend::hybrid;
  return tree;
}

std::map<std::string, std::string> CgroupTree::legacy_paths(const std::string& name) const {
  std::map<std::string, std::string> paths;
  for (const auto& [controller, root] : legacy_) paths.emplace(controller, root + "/" + name);
  return paths;
}

Result<std::unique_ptr<Cgroup>> CgroupTree::create(const std::string& name, const Limits& limits) const {
  if (!is_safe_name(name)) return Error{Errc::invalid, "bad name of a cgroup: " + printable(name)};
  if (backend_ == Backend::none) return std::unique_ptr<Cgroup>(std::make_unique<NoCgroup>(limits));
  auto unified = unified_group(name, backend_ == Backend::v2);
  if (backend_ == Backend::v2) {
    const auto made = [&]() -> Status {
      TRY(unified->create());
      TRY(unified->deny(limits.denied));
      return unified->limit(limits);
    }();
    if (made) return std::unique_ptr<Cgroup>(std::move(unified));
    [[maybe_unused]] const Status removed = unified->remove();
    return made.error();
  }
  auto legacy = std::make_unique<LegacyCgroup>(legacy_paths(name), std::move(unified));
  const Status made = legacy->create(limits);
  if (made) return std::unique_ptr<Cgroup>(std::move(legacy));
  [[maybe_unused]] const Status removed = legacy->remove();
  return made.error();
}

std::unique_ptr<UnifiedCgroup> CgroupTree::unified_group(const std::string& name, bool with_leaf) const {
  return unified_.empty() ? nullptr : std::make_unique<UnifiedCgroup>(unified_ + "/" + name, with_leaf);
}

// Once a step's group is in its job's, nobody can remove the job's; before that, whoever leaves last
// may do so between any two moves of ours, and then we begin again.
Result<std::unique_ptr<Cgroup>> CgroupTree::create_step(const Around& job, const std::string& step,
                                                        const Limits& limits) const {
  if (!is_safe_name(job.name) || !is_safe_name(step)) {
    return Error{Errc::invalid, "bad name of a cgroup: " + printable(job.name + "/" + step)};
  }
  if (backend_ == Backend::none) return std::unique_ptr<Cgroup>(std::make_unique<NoCgroup>(limits));
  Limits own = limits;
  if (own.pids == 0) own.pids = job.limits.pids;
  // A step is confined within its job's CPUs, or both to the machine's.
  if (job.limits.cpus.empty() || !why_not_confined(job.limits.cpus).empty()) own.cpus.clear();
  else if (own.cpus.empty()) own.cpus = job.limits.cpus;
  auto made = try_step(job, step, own);
  for (int i = 0; !made && i < kStepTries; ++i) {
    [[maybe_unused]] const Status removed = open_step(job, step)->remove();
    made = try_step(job, step, own);
  }
  return made;
}

Result<std::unique_ptr<Cgroup>> CgroupTree::try_step(const Around& job, const std::string& step,
                                                     const Limits& limits) const {
  const std::string name = job.name + "/" + step;
  std::unique_ptr<Cgroup> inside;
  if (backend_ == Backend::v2) {
    auto around = unified_group(job.name, true);
    auto group = unified_group(name, false);
    TRY(around->join());
    TRY(group->create());
    if (!job.has_owner) {
      TRY(around->deny(job.limits.denied));
      TRY(around->limit(job.limits));
    }
    around->hand_down();
    TRY(group->deny(limits.denied));
    TRY(group->limit(limits));
    inside = std::move(group);
  } else {
    LegacyCgroup around(legacy_paths(job.name), unified_group(job.name, false));
    auto group = std::make_unique<LegacyCgroup>(legacy_paths(name), unified_group(name, false));
    if (!job.has_owner) TRY(around.join(job.limits));
    TRY(group->create_in_job(limits));
    inside = std::move(group);
  }
  auto last = job.has_owner ? nullptr : open(job.name);
  return std::unique_ptr<Cgroup>(std::make_unique<NestedCgroup>(std::move(last), std::move(inside)));
}

std::unique_ptr<Cgroup> CgroupTree::open(const std::string& name) const {
  CHECK(is_safe_name(name));
  if (backend_ == Backend::none) return std::make_unique<NoCgroup>(Limits{});
  auto unified = unified_group(name, backend_ == Backend::v2);
  if (backend_ == Backend::v2) return unified;
  return std::make_unique<LegacyCgroup>(legacy_paths(name), std::move(unified));
}

std::unique_ptr<Cgroup> CgroupTree::open_step(const Around& job, const std::string& step) const {
  CHECK(is_safe_name(job.name) && is_safe_name(step));
  if (backend_ == Backend::none) return std::make_unique<NoCgroup>(Limits{});
  const std::string name = job.name + "/" + step;
  std::unique_ptr<Cgroup> inside = unified_group(name, false);
  if (backend_ != Backend::v2) {
    inside = std::make_unique<LegacyCgroup>(legacy_paths(name), unified_group(name, false));
  }
  return std::make_unique<NestedCgroup>(job.has_owner ? nullptr : open(job.name), std::move(inside));
}

void CgroupTree::remove_root() const {
  if (!unified_.empty()) [[maybe_unused]] const Status removed = remove_group(unified_);
  for (const auto& [controller, path] : legacy_) [[maybe_unused]] const Status removed = remove_group(path);
}

}  // namespace drover::agent
