// The live side of the accounts: collects the rows that facts complete and writes them to the
// history's file in batches. The file may lag behind; readers see both.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "control/payloads.h"
#include "domain/cluster.h"
#include "domain/history.h"
#include "store/history/history.h"

namespace drover::control {

class Ledger {
 public:
  Ledger(store::History& history, Payloads& payloads) : history_(history), payloads_(payloads) {}

  // A fact and the state after it; then the position of the record it came in.
  void note(const Cluster& after, const Event& event);
  void reached(std::uint64_t position);

  // Writes what has gathered. `write_some` is for ticks: it leaves an error for the next try (a full
  // disk must not stop jobs), which `flush` reports.
  void write_some();
  Status flush();
  // Makes durable what was written, so that the log may be cut behind it.
  Status settle();

  // Rows of ended attempts; live ones are the caller's.
  Result<std::vector<HistoryRow>> query(const HistoryQuery& query);
  // The steps of an attempt that are over.
  Result<std::vector<StepRow>> steps(JobId job, std::uint32_t restarts);

 private:
  static constexpr std::size_t kMany = 2000;
  Status write(std::unique_lock<std::mutex>& lock);

  store::History& history_;
  Payloads& payloads_;
  std::mutex mutex_;
  std::vector<HistoryRow> rows_;
  std::vector<store::EndedStep> steps_;
  std::uint64_t position_ = 0;  // that rows_ reach
  std::uint64_t written_ = 0;   // that the file reaches
};

}  // namespace drover::control
