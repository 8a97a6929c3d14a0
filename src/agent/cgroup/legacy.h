// A job's directories in the v1 hierarchies, with a v2 directory beside them on a hybrid machine.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agent/cgroup/cgroup.h"
#include "agent/cgroup/unified.h"
#include "os/fd.h"

namespace drover::agent {

class LegacyCgroup final : public Cgroup {
 public:
  // `paths`: controller -> directory. `unified` may be null.
  LegacyCgroup(std::map<std::string, std::string> paths, std::unique_ptr<UnifiedCgroup> unified)
      : paths_(std::move(paths)), unified_(std::move(unified)) {}
  // Makes the directories that these limits need, and sets them. conflict: there are processes in one.
  [[nodiscard]] Status create(const Limits& limits);
  // A job's, for a step of it: others may be there before us.
  [[nodiscard]] Status join(const Limits& limits);
  // A step's, in the group of its job.
  [[nodiscard]] Status create_in_job(const Limits& limits);

  [[nodiscard]] Result<Entry> entry() override;
  [[nodiscard]] std::vector<pid_t> processes() const override;
  [[nodiscard]] bool empty() const override;
  void kill_all() override;
  [[nodiscard]] Usage usage() const override;
  [[nodiscard]] bool may_have_steps() const override;
  [[nodiscard]] Status remove() override;
  [[nodiscard]] bool reusable() const override;
  [[nodiscard]] bool renew(const Limits& limits) override;

 protected:
  bool freeze() override;
  void thaw() override;

 private:
  [[nodiscard]] Result<std::string> make(const std::string& controller);
  [[nodiscard]] bool offers(const std::string& controller, std::string_view what);
  [[nodiscard]] Status limit_memory(std::int64_t bytes);
  [[nodiscard]] Status limit_cpus(const Limits& limits);
  [[nodiscard]] Status deny(const std::vector<DeviceNode>& denied);
  [[nodiscard]] std::string path(const std::string& controller) const;
  [[nodiscard]] std::int64_t counted_cpu_us() const;

  std::map<std::string, std::string> paths_;
  std::unique_ptr<UnifiedCgroup> unified_;
  bool shared_ = false;
  bool in_job_ = false;
  bool killed_ = false;
  std::vector<std::string> made_;
  std::vector<std::string> entered_;    // those of made_ that this job needs
  std::map<std::string, Fd> entries_;   // stay open from job to job
  Limits limits_;                       // what is written in made_
  std::int64_t cpu_us_of_earlier_ = 0;  // jobs
};

}  // namespace drover::agent
