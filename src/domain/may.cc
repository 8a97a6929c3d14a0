#include "domain/may.h"

#include <algorithm>

namespace drover {

bool is_admin(const Cluster& cluster, const Caller& caller) {
  const auto& admins = cluster.config().settings.admins;
  return caller.uid == 0 || std::ranges::find(admins, caller.uid) != admins.end();
}

bool may(const Cluster& cluster, const Caller& caller, Verb verb, std::uint32_t owner_uid) {
  switch (verb) {
    case Verb::submit: return true;
    case Verb::change_job: return caller.uid == owner_uid || is_admin(cluster, caller);
    case Verb::submit_as:
    case Verb::raise_priority:
    case Verb::change_node:
    case Verb::change_partition:
    case Verb::change_document: return is_admin(cluster, caller);
  }
  return false;
}

}  // namespace drover
