#include "kube/rest/events.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "kube/object/times.h"
#include "kube/rest/metadata_fill.h"
#include "os/clock.h"

namespace drover::kube {
namespace {

constexpr const char* kEvents = "events";
constexpr const char* kLeases = "leases.coordination.k8s.io";

// Of a process that starts later they are greater: microseconds since 1970.
std::uint64_t first_version() {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(wall_now().time_since_epoch()).count());
}

Value event_of(const Notice& notice, const ObjectName& name, Instant first, Instant last, std::int64_t count) {
  const Value about = notice.about->value();
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
  for (const char* table : {kEvents, kLeases}) store_.use_own_versions(table, first_version());
}

void Ephemera::tell(const Notice& notice, Instant now) {
  const std::lock_guard lock(mutex_);
  const std::string space = notice.about->name.space.empty() ? "default" : notice.about->name.space;
  const std::string key = notice.resource + "\n" + space + "\n" + notice.about->name.name + "\n" +
                          notice.about->look().at("metadata.uid").text() + "\n" + notice.container + "\n" +
                          notice.reason + "\n" + notice.message;
  Line& line = lines_[key];
  EntryPtr known = line.count > 0 ? store_.get(kEvents, line.name) : nullptr;
  if (!known) {
    line.name = {.space = space, .name = fmt::format("{}.{:x}", notice.about->name.name, store_.version(kEvents))};
    line.count = 0;
  }
  ++line.count;
  Value event = known ? known->value() : event_of(notice, line.name, now, now, 1);
  event.as_object()["count"] = line.count;
  event.as_object()["lastTimestamp"] = time_text(now);
  said_[line.name] = now;
  store_.put_own(kEvents, line.name, std::move(event));
}

Outcome<EntryPtr> Ephemera::put(const Resource& resource, const ObjectName& name, Value object,
                                const EntryPtr& current, Instant now) {
  const std::lock_guard lock(mutex_);
  const std::string table = store_table(resource);
  const EntryPtr known = store_.get(table, name);
  if (!current && known) return already_exists(resource, name.name);
  if (current && (!known || known->version != current->version)) return modified_meanwhile(resource, name.name);
  if (table == kEvents) said_[name] = now;
  return store_.put_own(table, name, std::move(object));
}

void Ephemera::renew_lease(const std::string& node, Instant now) {
  const std::lock_guard lock(mutex_);
  const ObjectName name{.space = "kube-node-lease", .name = node};
  const EntryPtr known = store_.get(kLeases, name);
  Value lease = known ? known->value()
                      : Value(Object{{"kind", "Lease"},
                                     {"apiVersion", "coordination.k8s.io/v1"},
                                     {"metadata", Object{{"name", node},
                                                         {"namespace", name.space},
                                                         {"uid", new_uid()},
                                                         {"creationTimestamp", time_text(now)}}},
                                     {"spec", Object{{"holderIdentity", node}, {"leaseDurationSeconds", 40}}}});
  lease.as_object()["spec"].as_object()["renewTime"] = micro_time_text(now);
  store_.put_own(kLeases, name, std::move(lease));
}

void Ephemera::remove(const Resource& resource, const Entry& entry) {
  const std::lock_guard lock(mutex_);
  store_.remove_own(store_table(resource), entry.name);
}

// What was last said an hour ago goes, and, when there are too many, what was said longest ago.
void Ephemera::forget_old(Instant now) {
  const std::lock_guard lock(mutex_);
  std::vector<std::pair<Instant, ObjectName>> all;
  for (const auto& [name, at] : said_) all.emplace_back(at, name);
  std::ranges::sort(all);
  std::size_t left = all.size();
  for (const auto& [at, name] : all) {
    if (now - at < kLife && left <= kMost) break;
    store_.remove_own(kEvents, name);
    said_.erase(name);
    --left;
  }
  std::erase_if(lines_, [&](const auto& line) { return !said_.contains(line.second.name); });
}

}  // namespace drover::kube
