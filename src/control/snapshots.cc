#include "control/snapshots.h"

#include <set>
#include <utility>

namespace drover::control {

Snapshots::Snapshots(Follower& follower, Ledger& ledger, Payloads& payloads, store::Log& log, std::uint64_t newest,
                     std::function<void(const std::string&)> say)
    : follower_(follower), ledger_(ledger), payloads_(payloads), log_(log), newest_(newest), say_(std::move(say)),
      thread_([this] { run(); }) {}

Snapshots::~Snapshots() { stop(false); }

void Snapshots::stop(bool last) {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (!thread_.joinable()) return;
  thread_.join();
  // The log's tail is worth more than a moment at the start: readers of changes go on in it (past.h).
  if (!last || log_.head().position < newest_ + kWorthwhile) return;
  if (const auto written = write(); !written) say_("no last snapshot: " + written.error().message);
}

void Snapshots::run() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, seconds(1), [&] { return stopping_; })) {
    if (log_.head().position < newest_ + kEvery) continue;
    lock.unlock();
    if (const auto written = write(); !written) say_("no snapshot this time: " + written.error().message);
    lock.lock();
  }
}

Status Snapshots::write() {
  auto [cluster, position] = follower_.read(
      [](const Cluster& c, Instant, std::uint64_t at) { return std::pair<Cluster, std::uint64_t>(c, at); });
  if (position == newest_) return Done{};
  TRY(ledger_.settle());  // the accounts must not depend on records that will be cut
  TRY(log_.write_snapshot(position, cluster.to_snapshot(), referred(cluster)));
  const std::uint64_t older = std::exchange(newest_, position);
  return older == 0 ? Status(Done{}) : log_.trim(older);
}

std::vector<store::Hash> Snapshots::referred(const Cluster& cluster) {
  std::map<PayloadHash, std::pair<PayloadHash, PayloadHash>> bodies;
  cluster.jobs().each([&](const Job& job) {
    if (bodies.contains(job.spec)) return;
    if (const auto known = bodies_.find(job.spec); known != bodies_.end()) {
      bodies.insert(*known);
    } else if (const auto spec = payloads_.spec(job.spec)) {
      bodies.emplace(job.spec, std::pair(spec->script, spec->environment));
    }
  });
  bodies_ = std::move(bodies);
  std::set<PayloadHash> all;
  for (const auto& [job, of] : cluster.all_steps()) {
    for (const auto& [number, step] : of.steps) all.insert(step.spec);
  }
  for (const auto& [job, wish] : cluster.first_steps()) all.insert(wish.spec);
  for (const auto& [key, document] : cluster.documents()) all.insert(document.body);
  for (const Tombstone& tombstone : cluster.tombstones()) all.insert(tombstone.body);
  for (const auto& [spec, pair] : bodies_) all.insert({spec, pair.first, pair.second});
  std::vector<store::Hash> hashes;
  for (const PayloadHash& hash : all) {
    if (hash) hashes.push_back(to_store(hash));
  }
  return hashes;
}

}  // namespace drover::control
