// Whether the clients of allocations are still there. Nothing of it is stored: a controller that has
// just started takes every client as heard of.
#pragma once

#include <map>
#include <mutex>
#include <vector>

#include "domain/cluster.h"

namespace drover::control {

class Keepalive {
 public:
  static constexpr Duration kSilence = seconds(60);

  // Times are since boot. The allocations that run when the controller starts.
  void begin(const Cluster& cluster, Duration now);
  // A fact and the state after it: allocations come and go.
  void follow(const Cluster& after, const Event& fact, Duration now);
  void heard(JobId job, Duration now);
  // Those whose client has been silent for too long. Each is named once; again after another silence.
  [[nodiscard]] std::vector<JobId> silent(Duration now);

 private:
  std::mutex mutex_;
  std::map<JobId, Duration> heard_;
};

}  // namespace drover::control
