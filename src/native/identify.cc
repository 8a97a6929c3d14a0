#include <map>

#include "native/server.h"
#include "os/clock.h"
#include "os/user.h"

namespace drover::native {
namespace {

struct Known {
  Caller caller;
  Duration since;
};

Caller look_up(const wire::Peer::Local& local) {
  Caller caller{local.uid, local.gid, std::to_string(local.uid), std::to_string(local.gid)};
  if (const auto user = user_by_id(local.uid)) caller.user = user->name;
  if (const auto group = group_name(local.gid)) caller.group = *group;
  return caller;
}

}  // namespace

Identify identify_local() {
  return [](const wire::Peer& peer) -> Result<Caller> {
    if (!peer.local) return Error{Errc::denied, "nobody vouches for who you are; use the controller's Unix socket"};
    // One memory per thread needs no lock. A name service may be slow, and names change rarely.
    constexpr Duration kRemember = seconds(60);
    constexpr std::size_t kMost = 1'000;
    thread_local std::map<std::pair<std::uint32_t, std::uint32_t>, Known> known;
    const Duration now = since_boot();
    const auto key = std::make_pair(peer.local->uid, peer.local->gid);
    const auto it = known.find(key);
    if (it != known.end() && now - it->second.since < kRemember) return it->second.caller;
    if (known.size() >= kMost) known.clear();
    Known& fresh = known[key];
    fresh = {look_up(*peer.local), now};
    return fresh.caller;
  };
}

}  // namespace drover::native
