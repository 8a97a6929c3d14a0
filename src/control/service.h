// api::Service on the live controller: wishes go to the driver, reads to the follower.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "api/service.h"
#include "control/driver.h"
#include "control/follower.h"
#include "control/ledger.h"
#include "control/payloads.h"

namespace drover::control {

class LiveService final : public api::Service {
 public:
  struct Options {
    std::string cluster_id;
    std::string version;
    std::string host;
    std::string state_dir;
    Epoch epoch;
    Instant started;
    std::function<std::map<NodeId, api::NodePulse>()> pulses;
    std::function<void(JobId)> heard;  // of an allocation's client
    std::function<void(const std::string&)> say;
  };
  LiveService(Options options, Driver& driver, Follower& follower, Ledger& ledger, Payloads& payloads, store::Log& log)
      : options_(std::move(options)), driver_(driver), follower_(follower), ledger_(ledger), payloads_(payloads),
        log_(log) {}

  void execute(api::Execute wish, std::function<void(api::Answer)> done) override;
  api::ListHeader jobs(const api::JobQuery& query, const std::function<void(const api::JobView&)>& visit) override;
  api::ListHeader steps(const api::StepQuery& query, const std::function<void(const api::StepView&)>& visit) override;
  api::ListHeader nodes(const std::function<void(const api::NodeView&)>& visit) override;
  api::ListHeader partitions(const std::function<void(const api::PartitionView&)>& visit) override;
  Result<std::vector<HistoryRow>> history(const HistoryQuery& query) override;
  api::Overview overview() override;
  Result<std::string> payload(const PayloadHash& hash) override;
  std::variant<api::WouldStart, Refusal> would_start(const api::Execute& wish) override;
  void wait_ended(JobId job, Duration patience, std::function<void(std::vector<api::JobView>)> done) override;
  void wait_started(JobId job, Duration patience, std::function<void(std::vector<api::JobView>)> done) override;
  std::optional<Refusal> keep(const Caller& caller, JobId job) override;
  void observe(api::Observer& observer, const std::function<void(const Cluster&, Instant)>& begin) override;
  [[nodiscard]] api::Waits why_waiting(const Cluster& cluster, JobId job) override;
  void read(const std::function<void(const Cluster&, Instant)>& visit) override;

 private:
  Status add_live_rows(const HistoryQuery& query, std::vector<HistoryRow>& rows);

  Options options_;
  Driver& driver_;
  Follower& follower_;
  Ledger& ledger_;
  Payloads& payloads_;
  store::Log& log_;
};

}  // namespace drover::control
