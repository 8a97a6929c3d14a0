// Who may do what: the one place that every door asks. Default deny.
#pragma once

#include <cstdint>
#include <string_view>

#include "domain/cluster.h"
#include "domain/command.h"

namespace drover {

enum class Verb : std::uint8_t {
  submit,          // for oneself
  submit_as,       // for somebody else
  change_job,      // cancel, signal, hold, requeue, modify: one's own
  raise_priority,  // set a priority, a negative nice, release an administrator's hold
  change_node,
  change_partition,
  change_document,  // what a door keeps in the log; the door asks for its callers
};

// `owner_uid` is of the job concerned; ignored for verbs that concern none.
[[nodiscard]] bool may(const Cluster& cluster, const Caller& caller, Verb verb, std::uint32_t owner_uid);
[[nodiscard]] bool is_admin(const Cluster& cluster, const Caller& caller);

}  // namespace drover
