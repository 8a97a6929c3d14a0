// What an end on a node means to the cluster.
#pragma once

#include "agent/shim/spec.h"
#include "domain/job.h"

namespace drover::agent {

[[nodiscard]] inline drover::Cause cause_of(const Ended& ended) {
  switch (ended.cause) {
    case Cause::exited:
      return ended.exit_code == 0 && ended.signal == 0 ? drover::Cause::completed : drover::Cause::failed;
    case Cause::time_limit: return drover::Cause::time_limit;
    case Cause::terminated: return from_word<drover::Cause>(ended.reason).value_or(drover::Cause::cancelled);
    case Cause::out_of_memory: return drover::Cause::out_of_memory;
    case Cause::not_started: return ended.own_fault ? drover::Cause::failed : drover::Cause::launch_failed;
    case Cause::lost: return drover::Cause::unknown;
  }
  return drover::Cause::unknown;
}

}  // namespace drover::agent
