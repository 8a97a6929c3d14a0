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
  // `with_leaf`: of a job whose steps may be limited, so that it holds no process itself.
  explicit UnifiedCgroup(std::string path, bool with_leaf = false) : path_(std::move(path)), with_leaf_(with_leaf) {}
  // conflict: it is there already, with processes of its own.
  [[nodiscard]] Status create();
  // As a step of it: others may be there before us.
  [[nodiscard]] Status join();
  // What is limited in this group can be limited in those below.
  void hand_down() const;
  [[nodiscard]] Status deny(const std::vector<DeviceNode>& denied);
  [[nodiscard]] Status limit(const Limits& limits);

  [[nodiscard]] Result<Entry> entry() override;
  [[nodiscard]] std::vector<pid_t> processes() const override;
  [[nodiscard]] bool empty() const override;
  void kill_all() override;
  [[nodiscard]] Usage usage() const override;
  [[nodiscard]] bool may_have_steps() const override;
  [[nodiscard]] std::int64_t cpu_us() const;
  [[nodiscard]] Status remove() override;

 protected:
  bool freeze() override;
  void thaw() override;

 private:
  friend class LegacyCgroup;  // which has one for its processes
  [[nodiscard]] Status set(const char* file, const std::string& value, std::string_view what);
  [[nodiscard]] std::string own_path() const { return with_leaf_ ? path_ + "/main" : path_; }

  std::string path_;
  bool with_leaf_ = false;
  bool fresh_ = true;
  Fd directory_;
};

}  // namespace drover::agent
