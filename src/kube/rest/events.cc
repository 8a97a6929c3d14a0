#include "kube/rest/events.h"

#include <fmt/format.h>

#include "kube/object/times.h"
#include "kube/rest/metadata_fill.h"
#include "os/clock.h"

namespace drover::kube {
namespace {

constexpr const char* kLeases = "leases.coordination.k8s.io";

// Of a process that starts later they are greater: microseconds since 1970.
std::uint64_t first_version() {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(wall_now().time_since_epoch()).count());
}

Value event_of(const Notice& notice, const ObjectName& name, Instant first, Instant last, std::int64_t count) {
  const Value& about = notice.about->value;
  Object involved{{"kind", text(member(about, "kind"))},
                  {"apiVersion", text(member(about, "apiVersion"))},
                  {"name", notice.about->name.name},
                  {"uid", text_at(about, "metadata.uid")},
                  {"resourceVersion", std::to_string(notice.about->version)}};
  if (!notice.about->name.space.empty()) involved["namespace"] = notice.about->name.space;
  if (!notice.container.empty()) involved["fieldPath"] = "spec.containers{" + notice.container + "}";
  Object source{{"component", notice.component}};
  if (!notice.host.empty()) source["host"] = notice.host;
  return Object{{"kind", "Event"},
                {"apiVersion", "v1"},
                {"metadata", Object{{"name", name.name},
                                    {"namespace", name.space},
                                    {"uid", new_uid()},
                                    {"creationTimestamp", time_text(first)}}},
                {"involvedObject", involved},
                {"reason", notice.reason},
                {"message", notice.message},
                {"source", source},
                {"firstTimestamp", time_text(first)},
                {"lastTimestamp", time_text(last)},
                {"count", count},
                {"type", notice.warning ? "Warning" : "Normal"},
                {"eventTime", nullptr},
                {"reportingComponent", notice.component},
                {"reportingInstance", notice.host}};
}

}  // namespace

Ephemera::Ephemera(Store& store) : store_(store) {
  for (const char* table : {"events", kLeases}) store_.use_own_versions(table, first_version());
}

void Ephemera::tell(const Notice& notice, Instant now) {
  const std::lock_guard lock(mutex_);
  const std::string space = notice.about->name.space.empty() ? "default" : notice.about->name.space;
  const std::string key = notice.resource + "\n" + space + "\n" + notice.about->name.name + "\n" +
                          std::string(text_at(notice.about->value, "metadata.uid")) + "\n" + notice.container + "\n" +
                          notice.reason + "\n" + notice.message;
  Line& line = lines_[key];
  EntryPtr known = line.count > 0 ? store_.get("events", line.name) : nullptr;
  if (!known) {
    line.name = {.space = space, .name = fmt::format("{}.{:x}", notice.about->name.name, store_.version("events"))};
    line.count = 0;
  }
  ++line.count;
  line.last = now;
  const std::uint64_t version = store_.next_own_version("events");
  Value event = known ? known->value : event_of(notice, line.name, now, now, 1);
  event.as_object()["count"] = line.count;
  event.as_object()["lastTimestamp"] = time_text(now);
  store_.put("events", make_entry(line.name, version, known ? known->made : version, std::move(event)));
}

Outcome<EntryPtr> Ephemera::put(const Resource& resource, const ObjectName& name, Value object,
                                const EntryPtr& current) {
  const std::lock_guard lock(mutex_);
  const std::string table = store_table(resource);
  const EntryPtr known = store_.get(table, name);
  if (!current && known) return already_exists(resource, name.name);
  if (current && (!known || known->version != current->version)) return modified_meanwhile(resource, name.name);
  const std::uint64_t version = store_.next_own_version(table);
  EntryPtr entry = make_entry(name, version, known ? known->made : version, std::move(object));
  store_.put(table, entry);
  return entry;
}

void Ephemera::renew_lease(const std::string& node, Instant now) {
  const std::lock_guard lock(mutex_);
  const ObjectName name{.space = "kube-node-lease", .name = node};
  const EntryPtr known = store_.get(kLeases, name);
  const std::uint64_t version = store_.next_own_version(kLeases);
  Value lease = known ? known->value
                      : Value(Object{{"kind", "Lease"},
                                     {"apiVersion", "coordination.k8s.io/v1"},
                                     {"metadata", Object{{"name", node},
                                                         {"namespace", name.space},
                                                         {"uid", new_uid()},
                                                         {"creationTimestamp", time_text(now)}}},
                                     {"spec", Object{{"holderIdentity", node}, {"leaseDurationSeconds", 40}}}});
  lease.as_object()["spec"].as_object()["renewTime"] = micro_time_text(now);
  store_.put(kLeases, make_entry(name, version, known ? known->made : version, std::move(lease)));
}

void Ephemera::remove(const Resource& resource, const Entry& entry) {
  const std::lock_guard lock(mutex_);
  const std::string table = store_table(resource);
  store_.remove(table, entry.name, store_.next_own_version(table));
}

void Ephemera::forget_old(Instant now) {
  const std::lock_guard lock(mutex_);
  for (auto at = lines_.begin(); at != lines_.end();) {
    if (now - at->second.last < kLife && lines_.size() <= kMost) {
      ++at;
      continue;
    }
    store_.remove("events", at->second.name, store_.next_own_version("events"));
    at = lines_.erase(at);
  }
}

}  // namespace drover::kube
