#include "engine/index.h"

#include <algorithm>

#include "domain/pod_terms.h"

namespace drover::engine {
namespace {

constexpr std::size_t kIdleClasses = 512;  // kept ready for the next job of their kind

// When an ended job may be forgotten: an array as a whole, once its last task has ended.
Instant forget_at(const Cluster& cluster, const Job& job) {
  if (cluster.document_of(job.id) != nullptr) return Instant{};  // readers of that look here
  Instant last = job.run->ended;
  if (job.array) {
    if (job.id != *cluster.array_members(job.array).begin()) return Instant{};  // one alarm for all of them
    for (const JobId id : cluster.array_members(job.array)) {
      const Job& member = *cluster.job(id);
      if (member.phase != Phase::ended) return Instant{};
      last = std::max(last, member.run->ended);
    }
  }
  return last + cluster.config().settings.min_job_age;
}

bool waits_for_namesakes(const Job& job) {
  return job.phase == Phase::waiting && job.dependency &&
         std::ranges::any_of(job.dependency->terms,
                             [](const DependencyTerm& t) { return t.kind == DependencyKind::singleton; });
}

}  // namespace

void Index::rebuild(const Cluster& cluster) {
  rooms_.rebuild(cluster);
  entries_ = {};
  classes_.clear();
  ends_.clear();
  alarms_.clear();
  active_.clear();
  unexplained_.clear();
  singletons_.clear();
  pending_arrays_.clear();
  head_ = {};
  queued_ = 0;
  apart_ = cluster.selectors().apart().size();
  if (!cluster.reservations().empty()) head_ = cluster.reservations().begin()->first;
  cluster.jobs().each([&](const Job& job) {  // the active ones first: throttles count them
    if (job.active()) touch(cluster, job.id);
  });
  pending_arrays_.clear();
  cluster.jobs().each([&](const Job& job) {
    if (!job.active()) touch(cluster, job.id);
  });
}

bool Index::follow(const Cluster& cluster, const Facts& facts) {
  bool news = false;
  for (const NodeId node : facts.described) {
    news = true;
    if (node.value() > rooms_.size()) {  // classes know the nodes of their partitions
      rebuild(cluster);
      return true;
    }
    rooms_.redescribe(cluster.node(node));
  }
  if (facts.configured) {
    rebuild(cluster);
    return true;
  }
  for (const NodeId node : facts.rooms) {
    rooms_.touch(cluster.node(node));
    news = true;
  }
  queue_changed_ = false;
  touch_meant(cluster);
  for (const JobId job : facts.jobs) touch(cluster, job);
  while (!pending_arrays_.empty()) {
    const JobId array = *pending_arrays_.begin();
    pending_arrays_.erase(pending_arrays_.begin());
    touch_array(cluster, array);
  }
  return (news || queue_changed_) && queued_ > 0;
}

// Terms that nobody asked for before may divide what was one class.
void Index::touch_meant(const Cluster& cluster) {
  const std::vector<std::uint32_t>& apart = cluster.selectors().apart();
  if (apart_ == apart.size()) return;
  std::vector<JobId> meant;
  cluster.jobs().each([&](const Job& job) {
    if (job.phase != Phase::waiting || !job.pod) return;
    const PodIdentity pod = cluster.pod_identity(job.id);
    for (std::size_t i = apart_; i < apart.size(); ++i) {
      if (!selects(cluster, cluster.selectors().at(apart[i]), pod)) continue;
      meant.push_back(job.id);
      break;
    }
  });
  apart_ = apart.size();
  for (const JobId job : meant) touch(cluster, job);
}

bool Index::looks_around() const {
  return std::ranges::any_of(classes_, [](const auto& entry) {
    const JobClass& jobs = entry.second;
    return !jobs.jobs.empty() && std::ranges::any_of(jobs.demands, &Demand::looks_around);
  });
}

JobClass* Index::class_of(JobId job) {
  Entry* entry = entries_.find(job);
  return entry == nullptr ? nullptr : entry->in;
}

std::uint32_t Index::active_of(JobId array) const {
  const auto found = active_.find(array);
  return found == active_.end() ? 0 : found->second;
}

// The waiting records of an array: their throttle may let them in or keep them out.
void Index::touch_array(const Cluster& cluster, JobId array) {
  for (const JobId id : cluster.array_members(array)) {
    const Job* job = cluster.job(id);
    if (job->phase == Phase::waiting) touch(cluster, id);
  }
}

void Index::touch(const Cluster& cluster, JobId id) {
  const Job* job = cluster.job(id);
  Entry* entry = entries_.find(id);
  if (job == nullptr && entry == nullptr) return;
  if (entry == nullptr) entry = &entries_.insert(id, {});
  set_active(cluster, *entry, job != nullptr && job->active() ? job->array : JobId{});
  const bool ends = job != nullptr && job->active() && job->limit > Duration{0};
  set_end(*entry, id, ends ? job->run->started + job->limit : Instant{});
  set_singleton(*entry, id, job != nullptr && waits_for_namesakes(*job) ? job : nullptr);
  unqueue(*entry);
  unexplained_.erase(id);
  Instant alarm{};
  if (job != nullptr && job->phase == Phase::waiting) {
    const Standing standing = standing_of(cluster, *job, active_of(job->array));
    alarm = standing.alarm;
    if (standing.queued) queue(cluster, *entry, *job, standing);
  } else if (job != nullptr && job->phase == Phase::ended) {
    alarm = forget_at(cluster, *job);
  } else if (job != nullptr && job->allocation && job->phase == Phase::running && ends) {
    alarm = job->run->started + job->limit;  // no script is there whose node would count
  }
  if (job != nullptr && job->array) touch_first(cluster, *job);
  set_alarm(entries_.at(id), id, alarm);
  if (entries_.at(id).blank()) entries_.erase(id);
}

// The first record of an array has the alarm to forget all of them: another one may have been the
// last to end, or has come back.
void Index::touch_first(const Cluster& cluster, const Job& member) {
  const JobId id = *cluster.array_members(member.array).begin();
  const Job& first = *cluster.job(id);
  if (id == member.id || first.phase != Phase::ended) return;
  Entry* entry = entries_.find(id);
  set_alarm(entry != nullptr ? *entry : entries_.insert(id, {}), id, forget_at(cluster, first));
  if (entries_.at(id).blank()) entries_.erase(id);
}

void Index::queue(const Cluster& cluster, Entry& entry, const Job& job, const Standing& standing) {
  entry.in = &class_for(cluster, job, standing);
  entry.key = {.tier = standing.tier, .priority = job.priority, .eligible = job.eligible, .job = job.id};
  entry.in->jobs.insert({.key = entry.key, .least = least_time(job)});
  ++queued_;
  queue_changed_ = true;
  if (job.reason != reason_for(job)) unexplained_.insert(job.id);
}

void Index::unqueue(Entry& entry) {
  if (entry.in == nullptr) return;
  entry.in->jobs.erase(entry.key);
  entry.in = nullptr;
  --queued_;
  queue_changed_ = true;
}

void Index::set_alarm(Entry& entry, JobId job, Instant at) {
  if (entry.also->alarm == at) return;
  if (entry.also->alarm != Instant{}) alarms_.erase({entry.also->alarm, job});
  if (at != Instant{}) alarms_.emplace(at, job);
  entry.also.edit().alarm = at;
  entry.also.trim();
}

void Index::set_end(Entry& entry, JobId job, Instant at) {
  if (entry.also->end == at) return;
  if (entry.also->end != Instant{}) ends_.erase({entry.also->end, job});
  if (at != Instant{}) ends_.emplace(at, job);
  entry.also.edit().end = at;
  entry.also.trim();
}

void Index::set_active(const Cluster& cluster, Entry& entry, JobId array) {
  if (entry.also->array == array) return;
  if (entry.also->array) {
    const auto found = active_.find(entry.also->array);
    if (--found->second == 0) active_.erase(found);
  }
  if (array) ++active_[array];
  for (const JobId changed : {entry.also->array, array}) {
    const auto& members = cluster.array_members(changed);
    if (!members.empty()) pending_arrays_.insert(changed);
  }
  entry.also.edit().array = array;
  entry.also.trim();
}

void Index::set_singleton(Entry& entry, JobId id, const Job* job) {
  std::optional<NameKey> key;
  if (job != nullptr) key = NameKey{job->uid, job->name};
  if (entry.also->singleton == key) return;
  if (entry.also->singleton) {
    const auto found = singletons_.find(*entry.also->singleton);
    found->second.erase(id);
    if (found->second.empty()) singletons_.erase(found);
  }
  if (key) singletons_[*key].insert(id);
  entry.also.edit().singleton = std::move(key);
  entry.also.trim();
}

JobClass& Index::class_for(const Cluster& cluster, const Job& job, const Standing& standing) {
  ClassKey key{.shape = job.shape, .partitions = job.partitions, .mask = standing.partitions,
               .avoid = job.run->avoid ? *job.run->avoid : std::vector<NodeId>{},
               .met = meant_by(cluster, job)};
  const auto found = classes_.find(key);
  if (found != classes_.end()) return found->second;
  if (classes_.size() >= kIdleClasses) drop_idle_classes();
  JobClass fresh;
  const auto names = partition_names(cluster, job.partitions);
  for (std::size_t i = 0; i < names.size() && i < 32; ++i) {
    if (((key.mask >> i) & 1U) == 0) continue;
    fresh.demands.emplace_back(cluster, *cluster.partition(names[i]), cluster.request(job), key.avoid, key.met);
  }
  return classes_.emplace(std::move(key), std::move(fresh)).first->second;
}

void Index::drop_idle_classes() {
  const auto busy = static_cast<std::size_t>(
      std::ranges::count_if(classes_, [](const auto& entry) { return !entry.second.jobs.empty(); }));
  if (classes_.size() - busy < kIdleClasses / 2) return;
  std::erase_if(classes_, [](const auto& entry) { return entry.second.jobs.empty(); });
}

Reason Index::reason_for(const Job& job) {
  if (job.id == head_) return Reason::resources;
  const JobClass* in = class_of(job.id);
  return in == nullptr ? Reason::none : in->reason;
}

void Index::reconsider(const Cluster& cluster, JobId id) {
  const Job* job = cluster.job(id);
  if (job == nullptr || class_of(id) == nullptr || job->reason == reason_for(*job)) unexplained_.erase(id);
  else unexplained_.insert(id);
}

void Index::set_reason(const Cluster& cluster, JobClass& jobs, Reason reason) {
  if (jobs.reason == reason) return;
  jobs.reason = reason;
  jobs.jobs.each([&](const ClassList::Entry& entry) { reconsider(cluster, entry.key.job); });
}

void Index::set_head(const Cluster& cluster, JobId head) {
  const JobId before = std::exchange(head_, head);
  if (before != head) {
    reconsider(cluster, before);
    reconsider(cluster, head);
  }
}

}  // namespace drover::engine
