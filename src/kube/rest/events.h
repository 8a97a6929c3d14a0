// Events and leases: kept in memory with versions of their own, never in the log. Events are counted
// together when they say the same, and go after an hour.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <string>

#include "kube/rest/ask.h"
#include "kube/rest/failure.h"
#include "kube/store/feed.h"

namespace drover::kube {

class Ephemera {
 public:
  explicit Ephemera(Store& store);

  // Something that people read in `kubectl describe`.
  void tell(const Notice& notice, Instant now);
  // Writes of clients on events and leases. The answer as the object is then.
  [[nodiscard]] Outcome<EntryPtr> put(const Resource& resource, const ObjectName& name, Value object,
                                      const EntryPtr& current, Instant now);
  void remove(const Resource& resource, const Entry& entry);
  // The lease by which others see that a node is heard of.
  void renew_lease(const std::string& node, Instant now);
  void forget_old(Instant now);

  [[nodiscard]] static bool keeps(const Resource& resource) {
    return resource.name == "events" || resource.name == "leases";
  }

 private:
  struct Line {  // one event that may repeat
    ObjectName name;
    std::int64_t count = 0;
  };
  static constexpr Duration kLife = std::chrono::hours(1);
  static constexpr std::size_t kMost = 20'000;

  Store& store_;
  std::mutex mutex_;
  std::map<std::string, Line> lines_;    // by what they say, of whom
  std::map<ObjectName, Instant> said_;   // every event, clients' too: when it was last said
};

}  // namespace drover::kube
