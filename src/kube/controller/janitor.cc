#include "kube/controller/janitor.h"

#include <algorithm>

#include "kube/json/parse.h"
#include "kube/rest/body.h"
#include "kube/rest/kept.h"
#include "kube/rest/metadata_fill.h"
#include "os/clock.h"

namespace drover::kube {
namespace {

constexpr std::size_t kAtOnce = 5000;
constexpr std::int64_t kGrace = 30;

bool is_leaving(const Entry& entry) { return entry.look().at("metadata.deletionTimestamp").given(); }

Array list_at(const Entry& entry, std::string_view path) {
  const Peek list = entry.look().at(path);
  if (list.empty()) return {};
  auto read = parse(list.json());
  return read && read->is_array() ? std::move(read->get_array()) : Array();
}

bool has_finalizer(const Entry& entry, std::string_view name) {
  return std::ranges::any_of(list_at(entry, "metadata.finalizers"),
                             [&](const Value& one) { return text(&one) == name; });
}

bool has_finalizers(const Entry& entry) { return !entry.look().at("metadata.finalizers").empty(); }

std::vector<std::string> owners_of(const Entry& entry) {
  std::vector<std::string> uids;
  for (const Value& one : list_at(entry, "metadata.ownerReferences")) uids.emplace_back(text(member(one, "uid")));
  return uids;
}

void erase_finalizer(Value& object, std::string_view name) {
  Object& metadata = object.as_object()["metadata"].as_object();
  Array& list = metadata["finalizers"].as_array();
  list.erase(std::remove_if(list.begin(), list.end(), [&](const Value& one) { return text(&one) == name; }),
             list.end());
  if (list.empty()) metadata.erase("finalizers");
}

}  // namespace

Janitor::Janitor(const Context& context) : context_(context) {}
Janitor::~Janitor() { stop(); }

void Janitor::start() {
  thread_ = std::thread([this] { run(); });
}

void Janitor::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Janitor::run() {
  Duration all_at{0};
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    lock.unlock();
    const Duration now = since_boot();
    const bool all = now >= all_at;
    if (all) all_at = now + kAllEvery;
    look(all);
    lock.lock();
    wake_.wait_for(lock, kEvery, [this] { return stopping_; });
  }
}

void Janitor::look(bool at_everything) {
  for (const std::string& table : context_.store.tables()) {
    std::vector<ChangePtr> changes;
    bool complete = cursors_.contains(table) && context_.store.read(table, cursors_[table], changes, kAtOnce);
    if (!complete || at_everything) {
      const auto resumed = context_.store.resume(table, std::nullopt);
      if (!complete) {
        cursors_[table] = resumed->cursor;
        changes = resumed->changes;
      } else {
        changes.insert(changes.end(), resumed->changes.begin(), resumed->changes.end());
      }
    }
    for (const ChangePtr& change : changes) note(table, *change);
  }
}

void Janitor::note(const std::string& table, const Change& change) {
  const Place place{.table = table, .name = change.now->name};
  const std::string uid = change.now->look().at("metadata.uid").text();
  const std::vector<std::string> were = forget_owners(place);
  const EntryPtr current = context_.store.get(table, change.now->name);
  if (change.kind == ChangeKind::removed) {
    places_.erase(uid);
    const auto found = owned_by_.find(uid);
    const std::set<Place> dependents = found == owned_by_.end() ? std::set<Place>{} : found->second;
    for (const Place& dependent : dependents) {
      if (const EntryPtr entry = context_.store.get(dependent.table, dependent.name))
        tend_dependent(dependent.table, *entry);
    }
  } else {
    places_.insert_or_assign(uid, place);
    std::vector<std::string> owners = owners_of(*change.now);
    for (const std::string& owner : owners) owned_by_[owner].insert(place);
    if (!owners.empty()) owners_[place] = std::move(owners);
    if (current) tend(table, *current);
  }
  // An owner may have waited for this.
  for (const std::string& owner : were) {
    const auto at = places_.find(owner);
    const EntryPtr entry = at == places_.end() ? nullptr : context_.store.get(at->second.table, at->second.name);
    if (entry && is_leaving(*entry)) tend_owner(at->second.table, *entry);
  }
}

std::vector<std::string> Janitor::forget_owners(const Place& place) {
  const auto found = owners_.find(place);
  if (found == owners_.end()) return {};
  for (const std::string& owner : found->second) {
    const auto owned = owned_by_.find(owner);
    if (owned == owned_by_.end()) continue;
    owned->second.erase(place);
    if (owned->second.empty()) owned_by_.erase(owned);
  }
  std::vector<std::string> owners = std::move(found->second);
  owners_.erase(found);
  return owners;
}

void Janitor::tend(const std::string& table, const Entry& entry) {
  if (is_leaving(entry)) {
    tend_owner(table, entry);
    if (table == "pods") tend_pod(entry);
    if (table == "namespaces") tend_namespace(entry);
  } else if (owners_.contains({.table = table, .name = entry.name})) {
    tend_dependent(table, entry);
  } else if (table == "namespaces") {
    const ObjectName account{.space = entry.name.name, .name = std::string(kUsualAccount)};
    if (!context_.store.get("serviceaccounts", account)) ask(wish_for_account(context_, account.space));
  }
}

// A pod that is being deleted: its job is ended, and once that is over the pod goes.
void Janitor::tend_pod(const Entry& pod) {
  JobId job;
  bool over = true;
  bool asked = false;
  context_.service.read([&](const Cluster& cluster, Instant) {
    const Document* document = cluster.document({.kind = "pods", .space = pod.name.space, .name = pod.name.name});
    if (document == nullptr) return;
    job = document->job;
    const Job* known = cluster.job(job);
    over = known == nullptr || known->phase == Phase::ended;
    asked = known != nullptr && known->phase == Phase::ending;
  });
  if (!over && !asked) ask({.caller = context_.self, .command = Cancel{.jobs = {.jobs = {{.job = job}}}}});
  if (over && !has_finalizers(pod)) ask(wish_to_remove(context_, "pods", pod));
}

void Janitor::tend_namespace(const Entry& space) {
  bool empty = true;
  for (const std::string& table : context_.store.tables()) {
    const auto inside =
        context_.store.list(table, space.name.name, std::nullopt, 0, [](const Entry&) { return true; });
    for (const EntryPtr& entry : inside.entries) {
      if (table == "events") {
        context_.store.remove_own(table, entry->name);
        continue;
      }
      empty = false;
      if (!is_leaving(*entry)) remove(table, *entry);
    }
  }
  if (empty && !has_finalizers(space)) ask(wish_to_remove(context_, "namespaces", space));
}

// What must happen to its dependents before an object may go.
void Janitor::tend_owner(const std::string& table, const Entry& entry) {
  const bool orphan = has_finalizer(entry, "orphan");
  const bool foreground = has_finalizer(entry, "foregroundDeletion");
  if (!orphan && !foreground) return;
  const std::string uid = entry.look().at("metadata.uid").text();
  const auto found = owned_by_.find(uid);
  bool waits = false;
  const std::set<Place> dependents = found == owned_by_.end() ? std::set<Place>{} : found->second;
  for (const Place& place : dependents) {
    const EntryPtr dependent = context_.store.get(place.table, place.name);
    if (!dependent) continue;
    waits = true;
    if (foreground) {
      if (!is_leaving(*dependent)) remove(place.table, *dependent);
      continue;
    }
    Value freed = dependent->value();
    Object& metadata = freed.as_object()["metadata"].as_object();
    Array& owners = metadata["ownerReferences"].as_array();
    owners.erase(std::remove_if(owners.begin(), owners.end(),
                                [&](const Value& one) { return text(member(one, "uid")) == uid; }),
                 owners.end());
    if (owners.empty()) metadata.erase("ownerReferences");
    ask(wish_to_put(context_, place.table, *dependent, freed));
  }
  if (waits) return;  // it is looked at again when they have changed
  Value freed = entry.value();
  erase_finalizer(freed, orphan ? "orphan" : "foregroundDeletion");
  const Array* left = array_at(freed, "metadata.finalizers");
  if (table != "pods" && table != "namespaces" && (left == nullptr || left->empty())) {
    ask(wish_to_remove(context_, table, entry));
  } else {
    ask(wish_to_put(context_, table, entry, freed));
  }
}

// An owner is looked up where it must be: what was noted of it may be older than the dependent. Of kinds
// that aren't served here nobody knows, so they count as there.
bool Janitor::owner_is_there(const std::string& space, const Value& reference) const {
  for (const Resource& resource : resources()) {
    if (resource.kind != text(member(reference, "kind")) ||
        api_version_of(resource) != text(member(reference, "apiVersion"))) {
      continue;
    }
    const EntryPtr owner = context_.store.get(
        store_table(resource),
        {.space = resource.namespaced ? space : "", .name = std::string(text(member(reference, "name")))});
    return owner && owner->look().at("metadata.uid").text() == text(member(reference, "uid"));
  }
  return true;
}

// One whose owners are all gone goes too.
void Janitor::tend_dependent(const std::string& table, const Entry& entry) {
  if (is_leaving(entry)) return;
  const Array owners = list_at(entry, "metadata.ownerReferences");
  if (owners.empty()) return;
  const auto is_there = [&](const Value& reference) { return owner_is_there(entry.name.space, reference); };
  if (std::ranges::none_of(owners, is_there)) remove(table, entry);
}

void Janitor::remove(const std::string& table, const Entry& entry) {
  if (table == "pods" || has_finalizers(entry)) {
    Value leaving = entry.value();
    mark_deleted(leaving, context_.now(), integer_at(leaving, "spec.terminationGracePeriodSeconds").value_or(kGrace));
    ask(wish_to_put(context_, table, entry, leaving));
    return;
  }
  ask(wish_to_remove(context_, table, entry));
}

// What is refused (somebody was quicker) is looked at again with the change that was in the way, or with
// the next look at everything.
void Janitor::ask(api::Execute wish) {
  context_.service.execute(std::move(wish), [](const api::Answer&) {});
}

}  // namespace drover::kube
