#include <map>

#include "native/server.h"
#include "os/clock.h"
#include "os/user.h"

namespace drover::native {
namespace {

// One memory per thread needs no lock. A name service may be slow, and names change rarely.
template <class Key>
class Memory {
 public:
  template <class LookUp>
  const Caller& find(const Key& key, LookUp look_up) {
    const Duration now = since_boot();
    const auto it = known_.find(key);
    if (it != known_.end() && now - it->second.since < kRemember) return it->second.caller;
    if (known_.size() >= kMost) known_.clear();
    Known& fresh = known_[key];
    fresh = {look_up(), now};
    return fresh.caller;
  }

 private:
  static constexpr Duration kRemember = seconds(60);
  static constexpr std::size_t kMost = 1'000;
  struct Known {
    Caller caller;
    Duration since;
  };
  std::map<Key, Known> known_;
};

Caller look_up(std::uint32_t uid, std::uint32_t gid) {
  Caller caller{uid, gid, std::to_string(uid), std::to_string(gid)};
  if (const auto user = user_by_id(uid)) caller.user = user->name;
  if (const auto group = group_name(gid)) caller.group = *group;
  return caller;
}

}  // namespace

Identify identify_local() {
  return [](const wire::Peer& peer) -> Result<Caller> {
    if (!peer.local) return Error{Errc::denied, "nobody vouches for who you are; use the controller's Unix socket"};
    thread_local Memory<std::pair<std::uint32_t, std::uint32_t>> known;
    const auto& local = *peer.local;
    return known.find({local.uid, local.gid}, [&] { return look_up(local.uid, local.gid); });
  };
}

Result<Caller> identify_named(std::uint32_t uid, const std::string& name) {
  thread_local Memory<std::uint32_t> known;
  const Caller& found = known.find(uid, [&] {
    const auto account = user_by_id(uid);
    return look_up(uid, account ? account->gid : uid);
  });
  if (found.user == name) return found;
  return Error{Errc::denied, "the certificate is of user " + name + " with uid " + std::to_string(uid) +
                                 ", who isn't one on the controller's machine any more"};
}

}  // namespace drover::native
