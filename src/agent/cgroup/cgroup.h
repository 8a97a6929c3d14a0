// What the kernel holds a job to, and how all of a job's processes are found and killed: cgroup v2
// where the machine has it, v1 (with v2 for killing and devices on a hybrid machine) as the second
// branch, and process trees where neither may be used.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace drover::agent {

// A device file as the kernel knows it.
struct DeviceNode {
  bool block = false;
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "block", self.block);
    visit(2, "major", self.major);
    visit(3, "minor", self.minor);
  }
  friend auto operator<=>(const DeviceNode&, const DeviceNode&) = default;
};

// 0 or empty: not limited.
struct Limits {
  std::int64_t memory_bytes = 0;  // swap doesn't come on top
  std::int64_t pids = 0;
  std::vector<std::int32_t> cpus;
  std::int64_t cpu_weight = 0;    // 1 to 10000, 100 is everybody's
  std::int64_t cpu_quota_us = 0;  // of CPU time in each 100,000 us
  // Neither opened nor made by mknod. All other devices are left to file permissions.
  std::vector<DeviceNode> denied;
  template <class Self, class Visit>
  static void describe(Self& self, Visit& visit) {
    visit(1, "memory_bytes", self.memory_bytes);
    visit(2, "pids", self.pids);
    visit(3, "cpus", self.cpus);
    visit(4, "cpu_weight", self.cpu_weight);
    visit(5, "cpu_quota_us", self.cpu_quota_us);
    visit(6, "denied", self.denied);
  }
  friend bool operator==(const Limits&, const Limits&) = default;
};

struct Usage {
  std::int64_t cpu_us = 0;       // 0: not known
  std::int64_t peak_memory = 0;  // bytes; 0: not known
  std::int64_t oom_kills = 0;
};

// How a child gets in before it executes anything: cloned into one, written into others, and bound
// to CPUs where there is no cpuset. Descriptors belong to the Cgroup.
struct Entry {
  int clone_into = -1;
  std::vector<int> write_zero_to;
  std::vector<std::int32_t> affinity;
};

class Cgroup {
 public:
  Cgroup() = default;
  Cgroup(const Cgroup&) = delete;
  Cgroup& operator=(const Cgroup&) = delete;
  virtual ~Cgroup() = default;

  [[nodiscard]] virtual Result<Entry> entry() = 0;
  // A job's processes are also those of its steps.
  [[nodiscard]] virtual std::vector<pid_t> processes() const = 0;
  [[nodiscard]] virtual bool empty() const = 0;
  // SIGCONT and SIGTERM to everything that is in it at one moment. Nobody forks meanwhile: a process that is
  // born beside it is either asked too, or the child of one that handles its own signal.
  virtual void terminate_all();
  // One sweep of SIGKILL over everything; to be repeated until empty(). The group is spoilt by it: since
  // Linux 6.14 whatever is cloned into a group that was killed as a whole dies at once, for ever.
  virtual void kill_all() = 0;
  [[nodiscard]] virtual Usage usage() const = 0;
  // Of a job, whether it may have steps; of a step, false.
  [[nodiscard]] virtual bool may_have_steps() const = 0;
  [[nodiscard]] virtual Status remove() = 0;
  // Whether the group, now empty, may stay for another job: nothing that counts is left in it.
  [[nodiscard]] virtual bool reusable() const { return false; }
  // Readies such a group for the next job, with its counts from zero. False: remove it and make another.
  [[nodiscard]] virtual bool renew(const Limits&) { return false; }
  // Limits that were asked for and don't hold, in plain sentences.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

 protected:
  // Stops all of it where it stands, if that can be done; waits a moment until it is so.
  virtual bool freeze() { return false; }
  virtual void thaw() {}

  std::vector<std::string> notes_;
};

class UnifiedCgroup;

enum class Backend : std::uint8_t { none, v1, hybrid, v2 };
[[nodiscard]] constexpr std::string_view word(Backend backend) {
  switch (backend) {
    case Backend::none: return "none";
    case Backend::v1: return "v1";
    case Backend::hybrid: return "hybrid";
    case Backend::v2: return "v2";
  }
  return "";
}

// A node's part of the cgroup file systems: `root` ("drover/n1") in each hierarchy, in it one group a
// job with the job's limits, and in that one group a step ("s0") with its own. Where a job has only steps
// here the first of them makes its group ("17.1"), and the last to leave removes it. Under v2, where a
// group with limited children can't hold processes, a job's own are in a leaf beside its steps.
class CgroupTree {
 public:
  struct Mounts {
    std::string unified;                        // where v2 is mounted, or ""
    std::map<std::string, std::string> legacy;  // controller -> v1 mount point
    [[nodiscard]] static Mounts read(std::string_view mount_table);
  };

  // Looks at the machine and makes `root` where it may.
  [[nodiscard]] static CgroupTree detect(const std::string& root);
  [[nodiscard]] static CgroupTree on(const Mounts& mounts, const std::string& root);
  [[nodiscard]] static CgroupTree without(std::string reason);

  [[nodiscard]] Backend backend() const { return backend_; }
  // What this machine or our rights don't allow, in plain sentences.
  [[nodiscard]] const std::vector<std::string>& off() const { return off_; }

  // `name` is one path component. A group of that name that is left over and empty is taken over.
  [[nodiscard]] Result<std::unique_ptr<Cgroup>> create(const std::string& name, const Limits& limits) const;
  // A step's group in that of its job, which is made where it isn't there yet.
  struct Around {
    std::string name;
    Limits limits;
    bool has_owner = false;  // the job's own shim made it, and will remove it
  };
  [[nodiscard]] Result<std::unique_ptr<Cgroup>> create_step(const Around& job, const std::string& step,
                                                            const Limits& limits) const;
  // The group of an earlier create(), whether or not it still exists.
  [[nodiscard]] std::unique_ptr<Cgroup> open(const std::string& name) const;
  [[nodiscard]] std::unique_ptr<Cgroup> open_step(const Around& job, const std::string& step) const;
  // Removes `root` itself when it holds no group.
  void remove_root() const;

 private:
  [[nodiscard]] std::map<std::string, std::string> legacy_paths(const std::string& name) const;
  [[nodiscard]] std::unique_ptr<UnifiedCgroup> unified_group(const std::string& name, bool with_leaf) const;
  [[nodiscard]] Result<std::unique_ptr<Cgroup>> try_step(const Around& job, const std::string& step,
                                                         const Limits& limits) const;

  Backend backend_ = Backend::none;
  std::string unified_;                        // path of root, or ""
  std::map<std::string, std::string> legacy_;  // controller -> path of root
  std::vector<std::string> off_;
};

// Names of attempts are path components: 1 to 128 of [A-Za-z0-9._-], not "." or "..".
[[nodiscard]] bool is_safe_name(std::string_view name);

}  // namespace drover::agent
