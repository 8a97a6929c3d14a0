#include "store/memory/memory_log.h"

#include <algorithm>
#include <utility>

#include "store/rules.h"

namespace drover::store {

MemoryLog::MemoryLog(std::string cluster) : cluster_(std::move(cluster)), head_(genesis(cluster_)) {}

void MemoryLog::append(Batch batch, OnAppended done) { done(store(std::move(batch))); }

Appended MemoryLog::store(Batch batch) {
  CHECK(!batch.records.empty());
  const std::lock_guard lock(mutex_);
  Head next = head_;
  std::vector<Row> rows;
  for (Record& record : batch.records) {
    if (std::string why = fence(record, next); !why.empty()) return {Outcome::fenced, head_, std::move(why)};
    rows.push_back(seal(std::move(record), next));
  }
  for (Payload& payload : batch.payloads) {
    CHECK(sha256(payload.bytes) == payload.hash);
    payloads_.insert_or_assign(payload.hash, Kept{std::move(payload.bytes), next.position});
  }
  for (Row& row : rows) rows_.emplace(row.position, std::move(row));
  head_ = std::move(next);
  return {Outcome::stored, head_, {}};
}

Status MemoryLog::read(std::uint64_t from, const Visit& visit) {
  TRY(check_read(from, first()));
  for (std::uint64_t position = from;; ++position) {
    Row row;
    {
      const std::lock_guard lock(mutex_);
      const auto found = rows_.find(position);
      if (found == rows_.end()) return Done{};
      row = found->second;
    }
    if (!visit(TRY(unseal(row)))) return Done{};
  }
}

Head MemoryLog::head() const {
  const std::lock_guard lock(mutex_);
  return head_;
}

std::uint64_t MemoryLog::first() const {
  const std::lock_guard lock(mutex_);
  return rows_.empty() ? head_.position + 1 : rows_.begin()->first;
}

Result<Hash> MemoryLog::hash_at(std::uint64_t position) const {
  if (position == 0) return genesis(cluster_).hash;
  const auto row = rows_.find(position);
  if (row == rows_.end()) return no_such_record(position);
  return row->second.hash;
}

Status MemoryLog::check_seen(std::uint64_t position, const Hash& hash) {
  const std::lock_guard lock(mutex_);
  if (position > head_.position) return behind("the log", head_.position, position);
  const auto own = hash_at(position);
  if (own && *own != hash) return other_story("the log", position);
  return Done{};
}

Result<std::string> MemoryLog::payload(const Hash& hash) {
  const std::lock_guard lock(mutex_);
  const auto found = payloads_.find(hash);
  if (found == payloads_.end()) return no_such_payload(hash);
  return found->second.bytes;
}

Status MemoryLog::write_snapshot(std::uint64_t position, std::string_view bytes, const std::vector<Hash>& payloads) {
  const std::lock_guard lock(mutex_);
  Hash hash = TRY(hash_at(position));
  if (!snapshots_.empty() && position <= snapshots_.back().position) return no_newer_snapshot(position);
  for (const Hash& used : payloads) {
    const auto found = payloads_.find(used);
    if (found == payloads_.end()) return no_such_payload(used);
    found->second.used = std::max(found->second.used, position);
  }
  snapshots_.push_back(Snapshot{.position = position, .hash = std::move(hash), .bytes = std::string(bytes)});
  if (snapshots_.size() > 2) snapshots_.erase(snapshots_.begin());
  return Done{};
}

Result<std::optional<Snapshot>> MemoryLog::latest_snapshot() {
  const std::lock_guard lock(mutex_);
  if (snapshots_.empty()) return std::optional<Snapshot>{};
  return std::optional(snapshots_.back());
}

Result<std::optional<Snapshot>> MemoryLog::older_snapshot() {
  const std::lock_guard lock(mutex_);
  if (snapshots_.size() < 2) return std::optional<Snapshot>{};
  return std::optional(snapshots_.front());
}

Status MemoryLog::trim(std::uint64_t below) {
  const std::lock_guard lock(mutex_);
  TRY(check_trim(below, snapshots_.size() < 2 ? 0 : snapshots_.front().position));
  rows_.erase(rows_.begin(), rows_.lower_bound(below));
  std::erase_if(payloads_, [&](const auto& entry) { return entry.second.used < below; });
  return Done{};
}

}  // namespace drover::store
