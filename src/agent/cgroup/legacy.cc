#include "agent/cgroup/legacy.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "agent/cgroup/directory.h"
#include "os/file.h"

namespace drover::agent {
namespace {

// What a job may leave charged to its group (pages of files that others read too) for the next one.
constexpr std::int64_t kChargeLeft = 1 << 20;

bool frozen_in(const std::string& state) {
  const auto text = read_file(state);
  return text && text->starts_with("FROZEN");
}

std::string folder_above(const std::string& path) { return path.substr(0, path.rfind('/')); }

}  // namespace

std::string LegacyCgroup::path(const std::string& controller) const {
  const auto it = paths_.find(controller);
  return it == paths_.end() ? std::string{} : it->second;
}

Result<std::string> LegacyCgroup::make(const std::string& controller) {
  const std::string at = path(controller);
  if (at.empty()) return Error{Errc::unavailable, "the kernel has no cgroup controller " + controller};
  entered_.push_back(at);
  if (std::ranges::find(made_, at) != made_.end()) return at;
  auto made = make_group(at);
  if (!made && in_job_ && made.error().code == Errc::not_found) {
    TRY(make_group(folder_above(at)));  // the job has all devices, say, so it needed no group for them
    made = make_group(at);
  }
  const bool fresh = TRY(std::move(made));
  if (!fresh && !shared_ && !read_pids(at + "/cgroup.procs").empty()) {
    return Error{Errc::conflict, at + " still holds processes"};
  }
  made_.push_back(at);
  return at;
}

bool LegacyCgroup::offers(const std::string& controller, std::string_view what) {
  if (paths_.contains(controller)) return true;
  notes_.push_back(not_offered(what));
  return false;
}

Status LegacyCgroup::create(const Limits& limits) {
  if (unified_) {
    if (made_.empty()) TRY(shared_ ? unified_->join() : unified_->create());
  } else {
    // These two find and count the processes, so they are always needed.
    TRY(make("freezer"));
    if (paths_.contains("cpuacct")) TRY(make("cpuacct"));
  }
  TRY(limit_memory(limits.memory_bytes));
  if (limits.pids > 0 && offers("pids", "The number of processes")) {
    const std::string at = TRY(make("pids"));
    if (limits.pids != limits_.pids) TRY(write_value(at + "/pids.max", std::to_string(limits.pids)));
  }
  TRY(limit_cpus(limits));
  TRY(deny(limits.denied));
  limits_ = limits;
  return Done{};
}

Status LegacyCgroup::join(const Limits& limits) {
  shared_ = true;
  return create(limits);
}

Status LegacyCgroup::create_in_job(const Limits& limits) {
  in_job_ = true;
  return create(limits);
}

Status LegacyCgroup::limit_memory(std::int64_t bytes) {
  if (bytes > 0 && !offers("memory", "Memory")) return Done{};
  if (!paths_.contains("memory")) return Done{};
  const std::string at = TRY(make("memory"));  // also without a limit: it keeps the peak
  if (bytes == limits_.memory_bytes) return Done{};
  // Memory and swap together, where the kernel counts swap; never less than memory alone.
  const auto limit_both = [&](const std::string& value) -> Status {
    const Status swap = write_value(at + "/memory.memsw.limit_in_bytes", value);
    return !swap && swap.error().code != Errc::not_found ? swap : Status(Done{});
  };
  if (limits_.memory_bytes > 0) TRY(limit_both("-1"));
  const std::string value = bytes > 0 ? std::to_string(bytes) : "-1";
  TRY(write_value(at + "/memory.limit_in_bytes", value));
  return limit_both(value);
}

Status LegacyCgroup::limit_cpus(const Limits& limits) {
  if (const std::string why = why_not_confined(limits.cpus); !why.empty()) {
    notes_.push_back(why);
  } else if (!limits.cpus.empty() && offers("cpuset", "The set of CPUs")) {
    const std::string at = TRY(make("cpuset"));
    if (limits.cpus != limits_.cpus) {
      const std::string mems = TRY(read_file(folder_above(at) + "/cpuset.mems"));
      TRY(write_value(at + "/cpuset.mems", mems));
      TRY(write_value(at + "/cpuset.cpus", cpu_list(limits.cpus)));
    }
  }
  if ((limits.cpu_weight <= 0 && limits.cpu_quota_us <= 0) || !offers("cpu", "CPU time")) return Done{};
  const std::string at = TRY(make("cpu"));
  if (limits.cpu_weight > 0) {
    // v2's 100 is v1's 1024; v1 takes 2 as its smallest share.
    const std::int64_t shares = limits.cpu_weight * 1024 / 100;
    TRY(write_value(at + "/cpu.shares", std::to_string(shares < 2 ? 2 : shares)));
  }
  if (limits.cpu_quota_us > 0) {
    TRY(write_value(at + "/cpu.cfs_period_us", "100000"));
    TRY(write_value(at + "/cpu.cfs_quota_us", std::to_string(limits.cpu_quota_us)));
  }
  return Done{};
}

Status LegacyCgroup::deny(const std::vector<DeviceNode>& denied) {
  if (denied.empty()) return Done{};
  if (unified_ && unified_->deny(denied)) return Done{};
  const std::string at = TRY(make("devices"));
  for (const DeviceNode& device : denied) {
    TRY(write_value(at + "/devices.deny", (device.block ? "b " : "c ") + std::to_string(device.major) + ":" +
                                              std::to_string(device.minor) + " rwm"));
  }
  return Done{};
}

Result<Entry> LegacyCgroup::entry() {
  Entry result;
  if (unified_) result.clone_into = TRY(unified_->entry()).clone_into;
  for (const std::string& at : entered_) {
    Fd& entry = entries_[at];
    // A thread that moves itself waits for nobody. A write to cgroup.procs moves a whole process and stops all forks
    // of the machine for that: where nobody has done so lately, that waits 8 to 20 ms for an RCU grace period.
    if (!entry) entry = TRY(open_file(at + "/tasks", O_WRONLY));
    result.write_zero_to.push_back(entry.get());
  }
  return result;
}

std::vector<pid_t> LegacyCgroup::processes() const {
  return unified_ ? unified_->processes() : read_pids_below(path("freezer"));
}

bool LegacyCgroup::may_have_steps() const {
  return unified_ ? unified_->may_have_steps() : !groups_below(path("freezer")).empty();
}

bool LegacyCgroup::empty() const { return unified_ ? unified_->empty() : processes().empty(); }

void LegacyCgroup::kill_all() {
  killed_ = true;
  if (unified_) return unified_->kill_all();
  // Nobody forks while frozen, and a thawed process finds its SIGKILL first.
  const bool frozen = freeze();
  for (const pid_t pid : processes()) ::kill(pid, SIGKILL);
  if (frozen) thaw();
}

bool LegacyCgroup::freeze() {
  if (unified_) return unified_->freeze();
  const std::string state = path("freezer") + "/freezer.state";
  if (!write_value(state, "FROZEN")) return false;
  wait_until([&] { return frozen_in(state); });
  return true;
}

void LegacyCgroup::thaw() {
  if (unified_) return unified_->thaw();
  [[maybe_unused]] const Status thawed = write_value(path("freezer") + "/freezer.state", "THAWED");
}

std::int64_t LegacyCgroup::counted_cpu_us() const {
  return unified_ ? unified_->cpu_us() : read_number(path("cpuacct") + "/cpuacct.usage") / 1000;
}

Usage LegacyCgroup::usage() const {
  Usage usage;
  usage.cpu_us = counted_cpu_us() - cpu_us_of_earlier_;
  usage.peak_memory = read_number(path("memory") + "/memory.max_usage_in_bytes");
  usage.oom_kills = read_number(path("memory") + "/memory.oom_control", "oom_kill");
  return usage;
}

Status LegacyCgroup::remove() {
  entries_.clear();
  Status result = Done{};
  if (made_.empty()) {  // opened, so we don't know which were made
    for (const auto& [controller, at] : paths_) made_.push_back(at);
  }
  for (const std::string& at : made_) {
    if (const Status removed = remove_group(at); !removed) result = removed;
  }
  if (unified_) {
    if (const Status removed = unified_->remove(); !removed) result = removed;
  }
  return result;
}

// Kills for want of memory are counted for ever, and device rules can only be taken back one by one.
bool LegacyCgroup::reusable() const {
  if (killed_ || !limits_.denied.empty() || !empty() || may_have_steps()) return false;
  if (!paths_.contains("memory")) return true;
  const std::string memory = path("memory");
  return read_number(memory + "/memory.oom_control", "oom_kill") == 0 &&
         read_number(memory + "/memory.usage_in_bytes") <= kChargeLeft;
}

bool LegacyCgroup::renew(const Limits& limits) {
  const bool same_cpu_time = limits.cpu_weight == limits_.cpu_weight && limits.cpu_quota_us == limits_.cpu_quota_us;
  if (!same_cpu_time || !limits.denied.empty()) return false;
  notes_.clear();
  entered_.clear();
  cpu_us_of_earlier_ = counted_cpu_us();
  if (paths_.contains("memory") && !write_value(path("memory") + "/memory.max_usage_in_bytes", "0")) return false;
  return create(limits).has_value();
}

}  // namespace drover::agent
