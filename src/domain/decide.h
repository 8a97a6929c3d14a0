// Wishes become facts, or are refused with a reason. What needs a look at free resources (could a
// submitted job ever run?) is asked of the engine by the caller before the fact is added.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "domain/command.h"
#include "domain/facts.h"
#include "domain/input.h"

namespace drover {

using Answer = std::variant<Reply, Refusal>;

// Why a request could never start in a partition, whoever has left; nothing when it could.
using Feasible = std::function<std::optional<Refusal>(const Cluster&, const Partition&, const Request&)>;

// The fact that a submit would be, complete: defaults filled in, bounds checked.
[[nodiscard]] std::variant<JobSubmitted, Refusal> validate_submit(const Cluster& cluster, const Caller& caller,
                                                                  const Submit& wish, const Feasible& feasible,
                                                                  Instant now);
Answer decide_submit(Facts& facts, const Asked& asked, const Submit& wish, const Feasible& feasible, Instant now);

// A signal that is to be sent to an attempt's nodes.
struct Signalled {
  JobId job;
  std::uint32_t signal = 0;
  SignalTarget target = SignalTarget::steps;
  std::uint32_t step = kBatchStep;  // another: that step alone
};

Answer decide_cancel(Facts& facts, const Caller& caller, const Cancel& wish, Instant now);
Answer decide_signal(Facts& facts, const Caller& caller, const Signal& wish, std::vector<Signalled>& signals);
Answer decide_hold(Facts& facts, const Caller& caller, const SetHold& wish);
Answer decide_requeue(Facts& facts, const Caller& caller, const Requeue& wish, Instant now);
Answer decide_modify(Facts& facts, const Caller& caller, const ModifyJob& wish, const Feasible& feasible, Instant now);
Answer decide_node(Facts& facts, const Caller& caller, const UpdateNode& wish, Instant now);
Answer decide_partition(Facts& facts, const Caller& caller, const UpdatePartition& wish);

Answer decide_put(Facts& facts, const Asked& asked, const PutDocument& wish, const Feasible& feasible, Instant now);
Answer decide_remove(Facts& facts, const Caller& caller, const RemoveDocument& wish, Instant now);
Answer decide_mark(Facts& facts, const Caller& caller, const MarkNode& wish, Instant now);
void on_pod(Facts& facts, const ReportPod& report, Instant now);

// A configuration that can't be worked with is refused as a whole.
std::optional<Refusal> decide_configure(Facts& facts, const Config& config);
// A node's registration, and what it means for the attempts that were there.
std::optional<Refusal> decide_register(Facts& facts, const NodeRegister& input, Instant now);

// Checks shared by submit and modify: the partitions exist, and one of them could hold the request.
[[nodiscard]] std::optional<Refusal> check_request(const Cluster& cluster, const std::string& partitions,
                                                   const Request& request, const Feasible& feasible);

inline constexpr std::int64_t kBasePriority = 1000;  // of a job that nobody gave one, before its nice
[[nodiscard]] constexpr std::int64_t priority_for(std::int32_t nice) {
  const std::int64_t priority = kBasePriority - nice;
  return priority < 1 ? 1 : priority;
}

}  // namespace drover
