// The log in one folder on a local disk: log.db (SQLite), head, reserve, lock, snapshot-<position>.
// One process at a time; durable against power loss at every `done`.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "store/log.h"
#include "store/sqlite/snapshot_files.h"
#include "store/sqlite/writer.h"

namespace drover::store {

class SqliteLog final : public Log {
 public:
  struct Options {
    std::string folder;
    // Kept free for facts when the disk fills; at most an eighth of the file system is taken.
    std::uint64_t reserve_bytes = 16 << 20;
    // The write-ahead log is emptied when it has so many pages of 4 KiB; at most a 64th of the file system.
    int checkpoint_pages = 512;
  };
  // Opens the log or makes a new one in an empty folder. Refuses, and says with file and position
  // why, when it is damaged, of another format, behind its head evidence, or held by another process.
  static Result<std::unique_ptr<SqliteLog>> open(const Options& options);
  // Stores and answers what was appended.
  ~SqliteLog() override = default;

  void append(Batch batch, OnAppended done) override { writer_->append(std::move(batch), std::move(done)); }
  Status read(std::uint64_t from, const Visit& visit) override;
  [[nodiscard]] Head head() const override { return writer_->head(); }
  [[nodiscard]] std::uint64_t first() const override { return writer_->first(); }
  [[nodiscard]] std::string cluster() const override { return cluster_; }
  Status check_seen(std::uint64_t position, const Hash& hash) override;
  Result<std::string> payload(const Hash& hash) override;
  // Errc::exhausted, and nothing broken, when the disk has no room for it.
  Status write_snapshot(std::uint64_t position, std::string_view bytes, const std::vector<Hash>& payloads) override;
  Result<std::optional<Snapshot>> latest_snapshot() override;
  Result<std::optional<Snapshot>> older_snapshot() override;
  Status trim(std::uint64_t below) override;
  [[nodiscard]] Space space() const override { return writer_->space(); }

 private:
  SqliteLog(Options options, Fd lock, std::string cluster, SnapshotFiles snapshots)
      : options_(std::move(options)), lock_(std::move(lock)), cluster_(std::move(cluster)),
        snapshots_(std::move(snapshots)) {}
  Result<Hash> hash_at(std::uint64_t position);

  const Options options_;
  const Fd lock_;
  const std::string cluster_;
  std::mutex snapshots_mutex_;
  SnapshotFiles snapshots_;
  std::unique_ptr<Writer> writer_;
};

}  // namespace drover::store
