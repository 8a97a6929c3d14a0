// Where a step runs in its job: a pure function of what the job holds and of the steps that are there.
// The options' meaning is that of srun(1) 26.05.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "domain/node.h"
#include "domain/placement.h"
#include "domain/refusal.h"
#include "domain/step.h"

namespace drover {

inline constexpr std::uint32_t kMaxStepTasks = 65'536;

// One of the job's nodes.
struct StepNode {
  const NodeShare* share = nullptr;        // what the job holds there
  std::string_view name;
  std::vector<const DeviceInfo*> devices;  // of share->devices, in their order
  bool open = true;                        // false: not now, its node is lost
};

// A request that no job can meet, whatever it holds; nothing when it makes sense.
[[nodiscard]] std::optional<Refusal> check_step(const StepRequest& request);

// The step's parts in the order of the job's nodes. Refused with step_busy when it would fit, were the
// other steps over and all nodes heard of (subject: which resource), with step_too_large when the job
// has not as much (amounts: have, want).
[[nodiscard]] std::variant<std::vector<StepShare>, Refusal> fit_step(const StepRequest& request,
                                                                     const std::vector<StepNode>& nodes,
                                                                     const std::map<std::uint32_t, Step>& others);

}  // namespace drover
