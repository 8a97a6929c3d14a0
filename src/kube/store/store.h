// The read model of the Kubernetes door: all objects by resource, what changed lately, and who waits for
// changes. It is told of changes in order (by the log's follower, or for events and leases by the door
// itself) and never asks back.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/store/entry.h"

namespace drover::kube {

enum class ChangeKind : std::uint8_t { added, modified, removed };

struct Change {
  std::uint64_t version = 0;
  ChangeKind kind = ChangeKind::added;
  EntryPtr now;     // of a removal: the object as it was, with the version of its end
  EntryPtr before;  // null for one that is new
};
using ChangePtr = std::shared_ptr<const Change>;

// Where a reader of changes stands. Changes before `first` have been thrown away.
struct Cursor {
  std::uint64_t next = 0;  // number of the change to read
};

class Store {
 public:
  explicit Store(std::size_t most_changes = 20'000) : most_changes_(most_changes) {}

  // ---- for those who tell of changes; any thread, per resource in rising order of versions ----
  void put(const std::string& resource, EntryPtr entry);
  void remove(const std::string& resource, const ObjectName& name, std::uint64_t version);
  // One that was never put is no more: `last` is what is left of it, for readers from before the start.
  void remove_unseen(const std::string& resource, EntryPtr last);
  // As it stands at the start, without telling anybody.
  void restore(const std::string& resource, EntryPtr entry);
  // What was removed before the start, so that a reader from before it learns of it.
  void restore_removed(const std::string& resource, ChangePtr removed);
  // Readers whose version is below it have missed removals that nobody remembers.
  void forget_before(const std::string& resource, std::uint64_t version);
  // All resources that follow the log have seen everything up to this version.
  void reached(std::uint64_t version);
  // A resource that counts its own versions, because nothing of it is in the log.
  void use_own_versions(const std::string& resource, std::uint64_t first);
  // Of such a resource; the version is taken in the same moment, so that changes are in order.
  EntryPtr put_own(const std::string& resource, const ObjectName& name, Value value);
  void remove_own(const std::string& resource, const ObjectName& name);

  // ---- for readers; any thread ----
  struct Listing {
    std::uint64_t version = 0;
    std::vector<EntryPtr> entries;  // by namespace and name
    bool more = false;
  };
  // At most `limit` (0: all) of those after `after`, of one namespace or of all, that `wanted` lets through.
  [[nodiscard]] Listing list(const std::string& resource, const std::optional<std::string>& space,
                             const std::optional<ObjectName>& after, std::size_t limit,
                             const std::function<bool(const Entry&)>& wanted) const;
  [[nodiscard]] std::vector<std::string> tables() const;
  [[nodiscard]] EntryPtr get(const std::string& resource, const ObjectName& name) const;
  [[nodiscard]] std::uint64_t version(const std::string& resource) const;

  // What a reader who has seen `version` is to be told now, and where he goes on; nothing when that can't
  // be said any more (410). Without a version: everything that is there, as added.
  struct Resumed {
    std::vector<ChangePtr> changes;
    Cursor cursor;
    std::uint64_t version = 0;
  };
  [[nodiscard]] std::optional<Resumed> resume(const std::string& resource,
                                              std::optional<std::uint64_t> version) const;
  // The changes from the cursor on, at most `most`. False: some of them are gone.
  [[nodiscard]] bool read(const std::string& resource, Cursor& cursor, std::vector<ChangePtr>& changes,
                          std::size_t most) const;
  // Is called after changes, in the thread of whoever told of them; must not call back.
  void set_wake(std::function<void()> wake);

 private:
  struct Table {
    std::map<ObjectName, EntryPtr> entries;
    std::deque<ChangePtr> changes;     // the last ones
    std::uint64_t first = 0;           // number of changes.front()
    std::uint64_t since = 0;           // changes after this version are all in `changes`
    std::uint64_t complete_since = 0;  // removals after this version are known
    std::vector<ChangePtr> removed;    // before the start, by version
    std::optional<std::uint64_t> own;  // the last version, of one that counts its own
  };
  void note(Table& table, Change change);
  void wake(std::unique_lock<std::mutex>& lock);
  // With the lock held. False: it is known already, or isn't there.
  bool put_in(Table& table, EntryPtr entry);
  bool remove_from(Table& table, const ObjectName& name, std::uint64_t version);
  [[nodiscard]] const Table* find(const std::string& resource) const;
  [[nodiscard]] std::uint64_t version_of(const Table& table) const { return table.own ? *table.own : version_; }
  [[nodiscard]] static std::vector<ChangePtr> rebuilt(const Table& table, std::uint64_t version);

  const std::size_t most_changes_;
  mutable std::mutex mutex_;
  std::map<std::string, Table> tables_;
  std::uint64_t version_ = 0;
  std::function<void()> wake_;
};

}  // namespace drover::kube
