// The port to durable storage: a log of records, payloads beside it, and snapshots of the state that
// the records fold to. Every implementation passes the same contract test (log_contract_test.cc).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/record.h"

namespace drover::store {

class Log {
 public:
  using OnAppended = std::function<void(const Appended&)>;
  using Visit = std::function<bool(const Record&)>;

  Log() = default;
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;
  virtual ~Log() = default;

  // Stores the batch, all of it or nothing. Returns at once; `done` is called exactly once, in the
  // order of the appends, from any thread, possibly before append returns. Appends may be in flight
  // together: the first record of each continues the batch before it. Payloads that are already
  // there count as used again at the last record of the batch. `previous` is filled in by the log.
  // After one `unknown`, all later appends are unknown too: the log is broken, and nothing is retried.
  virtual void append(Batch batch, OnAppended done) = 0;

  // Visits the durable records from `from` on, in order, checked, until `visit` says false. `visit`
  // runs in the caller's thread. Errc::not_found when `from` was cut away; nothing to visit beyond
  // the head is no error.
  virtual Status read(std::uint64_t from, const Visit& visit) = 0;

  // The newest durable record, and the oldest position that is still held (head + 1 when none is).
  [[nodiscard]] virtual Head head() const = 0;
  [[nodiscard]] virtual std::uint64_t first() const = 0;

  // 32 hexadecimal digits, drawn when the log was made.
  [[nodiscard]] virtual std::string cluster() const = 0;

  // Compares with what somebody outside saw as this log's head. Errc::conflict when the log is behind
  // it or tells another story: then this store must not lead.
  virtual Status check_seen(std::uint64_t position, const Hash& hash) = 0;

  // The bytes, whose hash was checked; Errc::not_found when they are not (or no longer) there.
  virtual Result<std::string> payload(const Hash& hash) = 0;

  // Keeps the state after `position` (a record that the log still holds) and says which payloads it
  // refers to. Durable when it returns. The newest two snapshots are kept.
  virtual Status write_snapshot(std::uint64_t position, std::string_view bytes, const std::vector<Hash>& payloads) = 0;
  // The newest snapshot that is whole; none when none was ever written.
  virtual Result<std::optional<Snapshot>> latest_snapshot() = 0;
  // The other one that is kept, from which the log still goes on; none when there aren't two.
  virtual Result<std::optional<Snapshot>> older_snapshot() = 0;

  // Drops records before `below`, and payloads used neither since nor by a kept snapshot. Errc::conflict
  // beyond what the older of the two snapshots covers: that one must be able to stand in.
  virtual Status trim(std::uint64_t below) = 0;

  [[nodiscard]] virtual Space space() const = 0;
};

}  // namespace drover::store
