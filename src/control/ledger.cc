#include "control/ledger.h"

#include <utility>

#include "control/accounts.h"

namespace drover::control {

void Ledger::note(const Cluster& after, const Event& event) {
  if (const auto* ended = std::get_if<StepEnded>(&event)) {
    const Job& job = after.jobs().at(ended->job);
    StepRow row = step_row(after, job, *after.step(ended->job, ended->step));
    const std::lock_guard lock(mutex_);
    steps_.push_back({.job = job.id, .restarts = job.run->restarts, .row = std::move(row)});
    return;
  }
  auto row = ended_row(after, event, payloads_);
  if (!row) return;
  const std::lock_guard lock(mutex_);
  rows_.push_back(*std::move(row));
}

void Ledger::reached(std::uint64_t position) {
  std::unique_lock lock(mutex_);
  position_ = position;
  if (rows_.size() + steps_.size() >= kMany) [[maybe_unused]] const Status written = write(lock);
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
  TRY(history_.upsert(position_, rows_, steps_));
  rows_.clear();
  steps_.clear();
  written_ = position_;
  return Done{};
}

Result<std::vector<HistoryRow>> Ledger::query(const HistoryQuery& query) {
  TRY(flush());
  const std::lock_guard lock(mutex_);
  return history_.query(query);
}

Result<std::vector<StepRow>> Ledger::steps(JobId job, std::uint32_t restarts) {
  TRY(flush());
  const std::lock_guard lock(mutex_);
  return history_.steps(job, restarts);
}

}  // namespace drover::control
