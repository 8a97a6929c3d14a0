#include "store/sqlite/writer.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "os/clock.h"

namespace drover::store {
namespace {

// Larger commits don't store more a second, but make each append wait longer.
constexpr std::size_t kRecordsACommit = 256;
constexpr std::uint64_t kSlice = 5000;
constexpr std::chrono::milliseconds kTick{1000};

}  // namespace

struct Writer::Group {
  std::vector<Row> rows;
  std::vector<std::pair<const Payload*, std::uint64_t>> payloads;  // and where they are used
};

Writer::Writer(Parts parts) : parts_(std::move(parts)), head_(parts_.head), first_(parts_.first) {
  thread_ = std::thread([this] { loop(); });
}

Writer::~Writer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Writer::append(Batch batch, Log::OnAppended done) {
  CHECK(!batch.records.empty());
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back({std::move(batch), std::move(done)});
  }
  wake_.notify_one();
}

void Writer::post(std::function<void(Tables&)> task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  wake_.notify_one();
}

Head Writer::head() const {
  const std::lock_guard lock(mutex_);
  return head_;
}

std::uint64_t Writer::first() const {
  const std::lock_guard lock(mutex_);
  return first_;
}

void Writer::loop() {
  Duration synced = since_boot();
  Duration looked{};
  for (bool stop = false; !stop;) {
    std::vector<Pending> pending;
    std::function<void(Tables&)> task;
    bool idle = false;
    {
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, kTick, [&] { return stopping_ || !queue_.empty() || !tasks_.empty(); });
      for (std::size_t records = 0; !queue_.empty() && records < kRecordsACommit; queue_.pop_front()) {
        records += queue_.front().batch.records.size();
        pending.push_back(std::move(queue_.front()));
      }
      if (!tasks_.empty()) {
        task = std::move(tasks_.front());
        tasks_.pop_front();
      }
      idle = queue_.empty() && tasks_.empty();
      stop = stopping_ && pending.empty() && !task;
    }
    if (const Duration now = since_boot(); now - looked >= Duration(100)) {
      parts_.reserve->look();
      looked = now;
    }
    if (!pending.empty()) commit(std::move(pending));
    checkpoint_if_due(idle);
    if (task) task(*parts_.tables);
    if (const Duration now = since_boot(); stop || now - synced >= kTick) {
      if (const Status status = parts_.evidence.sync(); !status) break_log(status.error().message);
      synced = now;
    }
  }
}

void Writer::commit(std::vector<Pending> pending) {
  Head next = head_;
  Group group;
  std::vector<Appended> results(pending.size());
  for (std::size_t i = 0; i < pending.size(); ++i) {
    Head after = next;
    std::vector<Row> rows;
    for (Record& record : pending[i].batch.records) {
      results[i].error = fence(record, after);
      if (!results[i].error.empty()) break;
      rows.push_back(seal(std::move(record), after));
    }
    if (!results[i].error.empty()) {
      results[i].outcome = Outcome::fenced;
      continue;
    }
    std::move(rows.begin(), rows.end(), std::back_inserter(group.rows));
    for (const Payload& payload : pending[i].batch.payloads) group.payloads.emplace_back(&payload, after.position);
    results[i].outcome = Outcome::stored;
    results[i].head = next = std::move(after);
  }
  if (broken_.empty() && !group.rows.empty()) {
    Status status = store(group);
    if (status) status = parts_.evidence.write(next);
    if (!status) break_log(status.error().message);
  }
  const Head before = head_;
  if (broken_.empty() && !group.rows.empty()) {
    const std::lock_guard lock(mutex_);
    head_ = next;
  }
  for (std::size_t i = 0; i < pending.size(); ++i) {
    if (!broken_.empty()) results[i] = {Outcome::unknown, before, broken_};
    if (results[i].outcome == Outcome::fenced) results[i].head = head_;
    pending[i].done(results[i]);
  }
}

Status Writer::store(const Group& group) {
  return transaction([&](Tables& tables) -> Status {
    for (const auto& [payload, used] : group.payloads) TRY(tables.payloads().put(*payload, used));
    for (const Row& row : group.rows) TRY(tables.insert(row));
    return Done{};
  });
}

// A full disk fails a write, never a sync: nothing is half known then, and the transaction may be
// tried again in the room that the reserve gives. After any other failure nothing is tried again.
Status Writer::transaction(const std::function<Status(Tables&)>& task) {
  const auto attempt = [&]() -> Status {
    TRY(parts_.tables->begin());
    TRY(task(*parts_.tables));
    return parts_.tables->commit();
  };
  Status status = attempt();
  if (!status) parts_.tables->roll_back();
  if (status || status.error().code != Errc::exhausted || !parts_.reserve->release()) return status;
  status = attempt();
  if (!status) parts_.tables->roll_back();
  return status;
}

Status Writer::write(const std::function<Status(Tables&)>& task) {
  return run([this, &task](Tables&) -> Status {
    if (!broken_.empty()) return Error{Errc::unavailable, broken_};
    Status status = transaction(task);
    if (!status && status.error().code == Errc::unavailable) break_log(status.error().message);
    return status;
  });
}

Status Writer::trim(std::uint64_t below) {
  // The evidence must not speak of what is about to go.
  Status settled = run([this](Tables&) -> Status {
    if (!broken_.empty()) return Error{Errc::unavailable, broken_};
    Status status = parts_.evidence.settle(head_);
    if (!status) break_log(status.error().message);
    return status;
  });
  if (!settled) return settled;
  for (std::uint64_t deleted = kSlice; deleted == kSlice;) {
    Status cut = write([&](Tables& tables) -> Status {
      deleted = TRY(tables.delete_records(below, kSlice));
      return Done{};
    });
    if (!cut) return cut;
    const std::lock_guard lock(mutex_);
    first_ += deleted;
  }
  for (std::uint64_t dropped = kSlice; dropped == kSlice;) {
    Status cut = write([&](Tables& tables) -> Status {
      dropped = TRY(tables.payloads().drop(below, kSlice));
      return Done{};
    });
    if (!cut) return cut;
  }
  return Done{};
}

// In a quiet moment when there is one, for a checkpoint takes as long as several commits.
void Writer::checkpoint_if_due(bool idle) {
  const int pages = parts_.tables->wal_pages();
  if (!broken_.empty() || pages < (idle ? parts_.checkpoint_pages : 4 * parts_.checkpoint_pages)) return;
  Status status = parts_.tables->checkpoint();
  if (!status && status.error().code == Errc::exhausted && parts_.reserve->release()) {
    status = parts_.tables->checkpoint();
  }
  // On a full disk the pages stay in the write-ahead log, which is as durable.
  if (!status && status.error().code != Errc::exhausted) break_log(status.error().message);
}

void Writer::break_log(const std::string& why) {
  if (broken_.empty()) broken_ = "the log is broken: " + why;
}

}  // namespace drover::store
