#include "kube/store/store.h"

#include <algorithm>
#include <utility>

namespace drover::kube {

void Store::set_wake(std::function<void()> wake) {
  const std::lock_guard lock(mutex_);
  wake_ = std::move(wake);
}

void Store::note(Table& table, Change change) {
  table.changes.push_back(std::make_shared<const Change>(std::move(change)));
  while (table.changes.size() > most_changes_) {
    table.since = table.changes.front()->version;
    table.changes.pop_front();
    ++table.first;
  }
}

bool Store::put_in(Table& table, EntryPtr entry) {
  EntryPtr& place = table.entries[entry->name];
  if (place && place->version >= entry->version) return false;
  const EntryPtr before = std::exchange(place, entry);
  note(table, {.version = entry->version,
               .kind = before ? ChangeKind::modified : ChangeKind::added,
               .now = std::move(entry),
               .before = before});
  return true;
}

bool Store::remove_from(Table& table, const ObjectName& name, std::uint64_t version) {
  const auto found = table.entries.find(name);
  if (found == table.entries.end() || found->second->version >= version) return false;
  const EntryPtr before = found->second;
  table.entries.erase(found);
  note(table, {.version = version, .kind = ChangeKind::removed, .now = at_version(*before, version), .before = before});
  return true;
}

void Store::put(const std::string& resource, EntryPtr entry) {
  std::unique_lock lock(mutex_);
  if (put_in(tables_[resource], std::move(entry))) wake(lock);
}

void Store::remove(const std::string& resource, const ObjectName& name, std::uint64_t version) {
  std::unique_lock lock(mutex_);
  if (remove_from(tables_[resource], name, version)) wake(lock);
}

void Store::remove_unseen(const std::string& resource, EntryPtr last) {
  std::unique_lock lock(mutex_);
  const std::uint64_t version = last->version;
  note(tables_[resource], {.version = version, .kind = ChangeKind::removed, .now = std::move(last), .before = nullptr});
  wake(lock);
}

EntryPtr Store::put_own(const std::string& resource, const ObjectName& name, Value value) {
  std::unique_lock lock(mutex_);
  Table& table = tables_[resource];
  const std::uint64_t version = ++*table.own;
  const auto known = table.entries.find(name);
  const std::uint64_t made = known == table.entries.end() ? version : known->second->made;
  EntryPtr entry = make_entry(name, version, made, std::move(value));
  put_in(table, entry);
  wake(lock);
  return entry;
}

void Store::remove_own(const std::string& resource, const ObjectName& name) {
  std::unique_lock lock(mutex_);
  Table& table = tables_[resource];
  if (remove_from(table, name, ++*table.own)) wake(lock);
}

// Without the lock: whoever is woken may ask at once.
void Store::wake(std::unique_lock<std::mutex>& lock) {
  const auto wake = wake_;
  lock.unlock();
  if (wake) wake();
}

void Store::restore(const std::string& resource, EntryPtr entry) {
  const std::lock_guard lock(mutex_);
  tables_[resource].entries[entry->name] = std::move(entry);
}

void Store::restore_removed(const std::string& resource, ChangePtr removed) {
  const std::lock_guard lock(mutex_);
  tables_[resource].removed.push_back(std::move(removed));
}

void Store::forget_before(const std::string& resource, std::uint64_t version) {
  const std::lock_guard lock(mutex_);
  Table& table = tables_[resource];
  table.complete_since = std::max(table.complete_since, version);
}

void Store::reached(std::uint64_t version) {
  const std::lock_guard lock(mutex_);
  if (version_ == 0) {
    for (auto& [name, table] : tables_) {
      if (!table.own) table.since = version;  // the start: what came before is not in `changes`
    }
  }
  version_ = std::max(version_, version);
}

void Store::use_own_versions(const std::string& resource, std::uint64_t first) {
  const std::lock_guard lock(mutex_);
  Table& table = tables_[resource];
  table.own = table.since = table.complete_since = first;
}

const Store::Table* Store::find(const std::string& resource) const {
  const auto found = tables_.find(resource);
  return found == tables_.end() ? nullptr : &found->second;
}

Store::Listing Store::list(const std::string& resource, const std::optional<std::string>& space,
                           const std::optional<ObjectName>& after, std::size_t limit,
                           const std::function<bool(const Entry&)>& wanted) const {
  const std::lock_guard lock(mutex_);
  Listing listing{.version = version_};
  const Table* table = find(resource);
  if (table == nullptr) return listing;
  listing.version = version_of(*table);
  auto at = table->entries.begin();
  if (space) at = table->entries.lower_bound({.space = *space, .name = ""});
  if (after) at = table->entries.upper_bound(*after);
  for (; at != table->entries.end(); ++at) {
    if (space && at->first.space != *space) break;
    if (!wanted(*at->second)) continue;
    if (limit != 0 && listing.entries.size() == limit) {
      listing.more = true;
      break;
    }
    listing.entries.push_back(at->second);
  }
  return listing;
}

std::vector<std::string> Store::tables() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [name, table] : tables_) names.push_back(name);
  return names;
}

EntryPtr Store::get(const std::string& resource, const ObjectName& name) const {
  const std::lock_guard lock(mutex_);
  const Table* table = find(resource);
  if (table == nullptr) return nullptr;
  const auto found = table->entries.find(name);
  return found == table->entries.end() ? nullptr : found->second;
}

std::uint64_t Store::version(const std::string& resource) const {
  const std::lock_guard lock(mutex_);
  const Table* table = find(resource);
  return table == nullptr ? version_ : version_of(*table);
}

// What happened after `version` up to the oldest change that is kept, as far as it still shows: what is
// there, at its newest version of then, and what was removed.
std::vector<ChangePtr> Store::rebuilt(const Table& table, std::uint64_t version) {
  std::map<ObjectName, EntryPtr> then = table.entries;  // going back over the changes gives what was there
  for (auto change = table.changes.rbegin(); change != table.changes.rend(); ++change) {
    const ObjectName& name = (*change)->now->name;
    if ((*change)->before)
      then[name] = (*change)->before;
    else
      then.erase(name);
  }
  std::vector<ChangePtr> changes;
  for (const ChangePtr& gone : table.removed) {
    if (gone->version > version) changes.push_back(gone);
  }
  for (const auto& [name, entry] : then) {
    if (entry->version <= version) continue;
    const bool fresh = entry->made > version;
    changes.push_back(std::make_shared<const Change>(Change{.version = entry->version,
                                                            .kind = fresh ? ChangeKind::added : ChangeKind::modified,
                                                            .now = entry,
                                                            .before = fresh ? nullptr : entry}));
  }
  std::ranges::sort(changes, {}, [](const ChangePtr& change) { return change->version; });
  return changes;
}

std::optional<Store::Resumed> Store::resume(const std::string& resource, std::optional<std::uint64_t> version) const {
  const std::lock_guard lock(mutex_);
  Resumed resumed{.version = version_};
  const Table* table = find(resource);
  if (table == nullptr) return resumed;
  resumed.version = version_of(*table);
  resumed.cursor.next = table->first + table->changes.size();
  if (!version) {
    for (const auto& [name, entry] : table->entries) {
      resumed.changes.push_back(std::make_shared<const Change>(
          Change{.version = entry->version, .kind = ChangeKind::added, .now = entry, .before = nullptr}));
    }
    return resumed;
  }
  if (*version < table->since) {
    if (*version < table->complete_since || table->first != 0) return std::nullopt;
    resumed.changes = rebuilt(*table, *version);
  }
  for (const ChangePtr& change : table->changes) {
    if (change->version > *version) resumed.changes.push_back(change);
  }
  return resumed;
}

bool Store::read(const std::string& resource, Cursor& cursor, std::vector<ChangePtr>& changes,
                 std::size_t most) const {
  const std::lock_guard lock(mutex_);
  const Table* table = find(resource);
  if (table == nullptr) return true;
  if (cursor.next < table->first) return false;
  const std::uint64_t end = table->first + table->changes.size();
  for (; cursor.next < end && changes.size() < most; ++cursor.next) {
    changes.push_back(table->changes[cursor.next - table->first]);
  }
  return true;
}

}  // namespace drover::kube
