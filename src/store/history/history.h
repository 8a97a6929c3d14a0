// Accounting: a projection of the log into a file of its own, written by the follower and read by
// whoever asks. It outlives the log, which is cut.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "domain/history.h"
#include "store/sqlite/database.h"

namespace drover::store {

// A step that is over, and the row that it belongs to.
struct EndedStep {
  JobId job;
  std::uint32_t restarts = 0;
  StepRow row;
};

class History {
 public:
  // Opens or makes the file. One of another format or cluster, and a damaged one, is refused.
  static Result<std::unique_ptr<History>> open(const std::string& path, const std::string& cluster);

  // The position of the last record whose rows are in. After a power cut it may be lower than it was:
  // go on after it, from the log.
  Result<std::uint64_t> position();
  // Puts the rows and steps that the records up to `position` made, in one transaction: each replaces the
  // one of the same attempt (and number). A row's own `steps` are not looked at. Positions that are in
  // already change nothing.
  Status upsert(std::uint64_t position, std::span<const HistoryRow> rows, std::span<const EndedStep> steps = {});
  // Makes durable what was put; the log may be cut up to and with the position that it returns.
  Result<std::uint64_t> settle();

  // Ordered by job and attempt.
  Result<std::vector<HistoryRow>> query(const HistoryQuery& filter);
  // The steps of an attempt that are over, by number.
  Result<std::vector<StepRow>> steps(JobId job, std::uint32_t restarts);

 private:
  History(Database writer, Database reader) : writer_(std::move(writer)), reader_(std::move(reader)) {}
  Status prepare(const std::string& cluster);
  Status put(const HistoryRow& row);
  Status put(const EndedStep& step);
  Result<std::vector<StepRow>> read_steps(JobId job, std::uint32_t restarts);  // with the reader's lock

  // Two connections, so that a long query holds up no upsert.
  std::mutex writer_mutex_;
  Database writer_;
  Statement put_;
  Statement put_step_;
  Statement read_position_;
  Statement set_position_;
  std::mutex reader_mutex_;
  Database reader_;
  Statement read_steps_;
};

}  // namespace drover::store
