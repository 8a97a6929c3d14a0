// One directory of the v2 hierarchy. On a hybrid machine it has no limits, but can still kill,
// freeze, deny devices and count CPU time.
#pragma once

#include <string>
#include <vector>

#include "agent/cgroup/cgroup.h"
#include "os/fd.h"

namespace drover::agent {

class UnifiedCgroup final : public Cgroup {
 public:
  explicit UnifiedCgroup(std::string path) : path_(std::move(path)) {}
  [[nodiscard]] Status create();
  [[nodiscard]] Status deny(const std::vector<DeviceNode>& denied);
  [[nodiscard]] Status limit(const Limits& limits);

  [[nodiscard]] Result<Entry> entry() override;
  [[nodiscard]] std::vector<pid_t> processes() const override;
  [[nodiscard]] bool empty() const override;
  void kill_all() override;
  [[nodiscard]] Usage usage() const override;
  [[nodiscard]] std::int64_t cpu_us() const;
  [[nodiscard]] Status remove() override;

 private:
  [[nodiscard]] Status set(const char* file, const std::string& value, std::string_view what);
  std::string path_;
  Fd directory_;
};

}  // namespace drover::agent
