// Without cgroups: the processes of a job are the descendants of its shim, which is the one that
// orphans fall back to. Nothing is limited except by CPU affinity, which the job may undo.
#pragma once

#include <vector>

#include "agent/cgroup/cgroup.h"

namespace drover::agent {

class NoCgroup final : public Cgroup {
 public:
  explicit NoCgroup(const Limits& limits);

  [[nodiscard]] Result<Entry> entry() override { return Entry{.affinity = cpus_}; }
  // Descendants of the calling process.
  [[nodiscard]] std::vector<pid_t> processes() const override;
  // Whether the calling process has no child at all, not even one to be waited for. Orphans become
  // its children, so that is exact, while a look at /proc could miss one that is just being born.
  [[nodiscard]] bool empty() const override;
  void kill_all() override;
  [[nodiscard]] Usage usage() const override { return {}; }
  [[nodiscard]] bool may_have_steps() const override { return true; }
  [[nodiscard]] Status remove() override { return Done{}; }

 private:
  std::vector<std::int32_t> cpus_;
};

}  // namespace drover::agent
