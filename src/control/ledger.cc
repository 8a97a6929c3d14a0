#include "control/ledger.h"

#include <utility>

#include "control/accounts.h"

namespace drover::control {

void Ledger::note(const Cluster& after, const Event& event) {
  auto row = ended_row(after, event, payloads_);
  if (!row) return;
  const std::lock_guard lock(mutex_);
  rows_.push_back(*std::move(row));
}

void Ledger::reached(std::uint64_t position) {
  std::unique_lock lock(mutex_);
  position_ = position;
  if (rows_.size() >= kMany) [[maybe_unused]] const Status written = write(lock);
}

void Ledger::write_some() { [[maybe_unused]] const Status written = flush(); }

Status Ledger::flush() {
  std::unique_lock lock(mutex_);
  return position_ > written_ ? write(lock) : Status(Done{});
}

Status Ledger::settle() {
  TRY(flush());
  TRY(history_.settle());
  return Done{};
}

Status Ledger::write(std::unique_lock<std::mutex>&) {
  TRY(history_.upsert(position_, rows_));
  rows_.clear();
  written_ = position_;
  return Done{};
}

Result<std::vector<HistoryRow>> Ledger::query(const HistoryQuery& query) {
  TRY(flush());
  const std::lock_guard lock(mutex_);
  return history_.query(query);
}

}  // namespace drover::control
