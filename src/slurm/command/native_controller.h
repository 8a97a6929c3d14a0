// The controller behind drover's own API. Connects when it is first asked something, so that what
// needs no controller works without one.
#pragma once

#include <optional>

#include "native/client.h"
#include "slurm/command/call.h"

namespace drover::slurm {

class NativeController : public Controller {
 public:
  Result<api::Answer> execute(const api::Execute& wish) override;
  Result<std::variant<api::WouldStart, Refusal>> would_start(const api::Execute& wish) override;
  Result<api::ListHeader> jobs(const api::JobQuery& query, const std::function<void(api::JobView&)>& visit) override;
  Result<api::ListHeader> nodes(const std::function<void(api::NodeView&)>& visit) override;
  Result<api::ListHeader> partitions(const std::function<void(api::PartitionView&)>& visit) override;
  Result<std::vector<HistoryRow>> history(const HistoryQuery& query) override;
  Result<api::Overview> overview() override;
  Result<std::string> script(JobId job) override;
  Result<std::vector<api::JobView>> wait_ended(JobId job) override;
  Result<api::ListHeader> steps(const api::StepQuery& query,
                                const std::function<void(api::StepView&)>& visit) override;
  Result<std::vector<api::JobView>> wait_started(JobId job) override;
  Status keep(JobId job) override;
  void forked() override;

 private:
  Result<native::Client*> client();
  std::optional<native::Client> client_;
};

}  // namespace drover::slurm
