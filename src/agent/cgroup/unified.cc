#include "agent/cgroup/unified.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>

#include "agent/cgroup/device_program.h"
#include "agent/cgroup/directory.h"
#include "os/file.h"

namespace drover::agent {

Status UnifiedCgroup::create() {
  TRY(join());
  if (!fresh_ && !empty()) return Error{Errc::conflict, path_ + " still holds processes"};
  return Done{};
}

Status UnifiedCgroup::join() {
  fresh_ = TRY(make_group(path_));
  return Done{};
}

void UnifiedCgroup::hand_down() const {
  for (const char* const controller : {"+memory", "+pids", "+cpuset", "+cpu"}) {
    [[maybe_unused]] const Status written = write_value(path_ + "/cgroup.subtree_control", controller);
  }
}

// The programs of a group add up, and the first to come has denied what is to be denied.
Status UnifiedCgroup::deny(const std::vector<DeviceNode>& denied) {
  return denied.empty() || !fresh_ ? Status(Done{}) : deny_devices(path_, denied);
}

Status UnifiedCgroup::set(const char* file, const std::string& value, std::string_view what) {
  const Status written = write_value(path_ + file, value);
  if (written || written.error().code != Errc::not_found) return written;
  if (!what.empty()) notes_.push_back(not_offered(what));
  return Done{};
}

Status UnifiedCgroup::limit(const Limits& limits) {
  if (limits.memory_bytes > 0) {
    TRY(set("/memory.max", std::to_string(limits.memory_bytes), "Memory"));
    // A kernel without swap has no such file, and then nothing to limit.
    TRY(set("/memory.swap.max", "0", ""));
  }
  if (limits.pids > 0) TRY(set("/pids.max", std::to_string(limits.pids), "The number of processes"));
  if (const std::string why = why_not_confined(limits.cpus); !why.empty()) {
    notes_.push_back(why);
  } else if (!limits.cpus.empty()) {
    TRY(set("/cpuset.cpus", cpu_list(limits.cpus), "The set of CPUs"));
  }
  if (limits.cpu_weight > 0) TRY(set("/cpu.weight", std::to_string(limits.cpu_weight), "CPU time"));
  if (limits.cpu_quota_us > 0) TRY(set("/cpu.max", std::to_string(limits.cpu_quota_us) + " 100000", "CPU time"));
  return Done{};
}

Result<Entry> UnifiedCgroup::entry() {
  if (directory_) return Entry{.clone_into = directory_.get()};
  if (with_leaf_) TRY(make_group(own_path()));
  directory_ = TRY(open_file(own_path(), O_RDONLY | O_DIRECTORY));
  return Entry{.clone_into = directory_.get()};
}

std::vector<pid_t> UnifiedCgroup::processes() const { return read_pids_below(path_); }

bool UnifiedCgroup::may_have_steps() const { return groups_below(path_).size() > (with_leaf_ ? 1U : 0U); }

bool UnifiedCgroup::empty() const { return read_number(path_ + "/cgroup.events", "populated") == 0; }

void UnifiedCgroup::kill_all() {
  if (write_value(path_ + "/cgroup.kill", "1")) return;
  // Kernels before 5.14: nobody forks while frozen.
  const bool frozen = freeze();
  for (const pid_t pid : processes()) ::kill(pid, SIGKILL);
  if (frozen) thaw();
}

bool UnifiedCgroup::freeze() {
  if (!write_value(path_ + "/cgroup.freeze", "1")) return false;
  wait_until([this] { return read_number(path_ + "/cgroup.events", "frozen") == 1; });
  return true;
}

void UnifiedCgroup::thaw() { [[maybe_unused]] const Status thawed = write_value(path_ + "/cgroup.freeze", "0"); }

std::int64_t UnifiedCgroup::cpu_us() const { return read_number(path_ + "/cpu.stat", "usage_usec"); }

Usage UnifiedCgroup::usage() const {
  return {.cpu_us = cpu_us(),
          .peak_memory = read_number(path_ + "/memory.peak"),
          .oom_kills = read_number(path_ + "/memory.events", "oom_kill")};
}

Status UnifiedCgroup::remove() {
  directory_.reset();
  if (with_leaf_) TRY(remove_group(own_path()));
  return remove_group(path_);
}

}  // namespace drover::agent
