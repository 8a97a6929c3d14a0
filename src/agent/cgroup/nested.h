// A step's group with its job's around it: what counts is the step's.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "agent/cgroup/cgroup.h"

namespace drover::agent {

class NestedCgroup final : public Cgroup {
 public:
  // `job`: to be removed by whoever leaves it last; null: not by us.
  NestedCgroup(std::unique_ptr<Cgroup> job, std::unique_ptr<Cgroup> step)
      : job_(std::move(job)), step_(std::move(step)) {
    notes_ = step_->notes();
  }

  [[nodiscard]] Result<Entry> entry() override { return step_->entry(); }
  [[nodiscard]] std::vector<pid_t> processes() const override { return step_->processes(); }
  [[nodiscard]] bool empty() const override { return step_->empty(); }
  void terminate_all() override { step_->terminate_all(); }
  void kill_all() override { step_->kill_all(); }
  [[nodiscard]] Usage usage() const override { return step_->usage(); }
  [[nodiscard]] bool may_have_steps() const override { return false; }
  [[nodiscard]] Status remove() override {
    TRY(step_->remove());
    if (!job_ || job_->may_have_steps()) return Done{};
    return job_->remove();
  }

 private:
  std::unique_ptr<Cgroup> job_;
  std::unique_ptr<Cgroup> step_;
};

}  // namespace drover::agent
