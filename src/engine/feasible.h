// Could a request ever start in a partition, were all its nodes idle and open? If not, why, with
// amounts and the nearest request that could.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "domain/cluster.h"
#include "domain/refusal.h"
#include "domain/request.h"

namespace drover::engine {

[[nodiscard]] std::optional<Refusal> why_never(const Cluster& cluster, const Partition& partition,
                                               const Request& request);

// Remembers answers until the nodes or the configuration change.
class Feasibility {
 public:
  [[nodiscard]] std::optional<Refusal> ask(const Cluster& cluster, const Partition& partition, const Request& request);
  void forget() { known_.clear(); }

 private:
  std::map<std::pair<std::string, std::string>, std::optional<Refusal>> known_;  // partition, encoded request
};

}  // namespace drover::engine
