#include "store/sqlite/sqlite_log.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "os/file.h"
#include "os/random.h"
#include "store/rules.h"
#include "store/sqlite/recover.h"

namespace drover::store {
namespace {

constexpr std::size_t kRowsARead = 512;
constexpr std::size_t kBytesARead = 1 << 20;
constexpr std::size_t kTouchesACommit = 1000;

// The evidence of an old log, or that of a new one, which is durable before the log itself exists.
Result<HeadFile::Seen> read_evidence(const std::string& head_path, const std::string& log_path) {
  auto evidence = HeadFile::read(head_path);
  if (evidence) {
    if (evidence->head.position > 0 && !file_exists(log_path)) {
      return Error{Errc::unavailable, log_path + ": it is missing, but head says that it ends at position " +
                                          std::to_string(evidence->head.position)};
    }
    return evidence;
  }
  if (evidence.error().code != Errc::not_found) return evidence;
  if (file_exists(log_path)) {
    return Error{Errc::unavailable, head_path + ": it is missing, and without it nobody can say whether " + log_path +
                                        " is whole; restore the folder from a copy"};
  }
  HeadFile::Seen made{.cluster = hex(random_bytes(16)), .head = {}};
  made.head = genesis(made.cluster);
  TRY(HeadFile::open(head_path, made.cluster, made.head));
  return made;
}

Result<std::unique_ptr<Tables>> open_tables(const SqliteLog::Options& options, const HeadFile::Seen& evidence,
                                            const std::string& log_path) {
  auto opened = TRY(Tables::open(log_path));
  if (!opened.cluster) {
    if (evidence.head.position > 0) {
      return Error{Errc::unavailable, log_path + ": it is empty, but head says that it ends at position " +
                                          std::to_string(evidence.head.position)};
    }
    TRY(opened.tables->create(evidence.cluster));
    TRY(sync_folder(options.folder));
  } else if (*opened.cluster != evidence.cluster) {
    return Error{Errc::unavailable, log_path + ": it says cluster " + printable(*opened.cluster) + ", head says " +
                                        evidence.cluster + ": one of them is damaged or of another cluster"};
  }
  return std::move(opened.tables);
}

}  // namespace

Result<std::unique_ptr<SqliteLog>> SqliteLog::open(const Options& options) {
  const std::string log_path = options.folder + "/log.db";
  const std::string head_path = options.folder + "/head";
  TRY(make_folders(options.folder));
  auto lock = lock_file(options.folder + "/lock");
  if (!lock) return std::move(lock).error().under("another droverd uses " + options.folder);
  const HeadFile::Seen evidence = TRY(read_evidence(head_path, log_path));
  auto tables = TRY(open_tables(options, evidence, log_path));
  SnapshotFiles snapshots = TRY(SnapshotFiles::open(options.folder, evidence.cluster));
  const Recovered recovered = TRY(recover(*tables, snapshots, evidence, log_path));
  const DiskSpace disk = TRY(disk_space(options.folder));
  const auto page_limit = static_cast<int>(std::min<std::uint64_t>(disk.total / 64 / 4096, 1 << 20));
  Writer::Parts parts{.tables = std::move(tables),
                      .evidence = TRY(HeadFile::open(head_path, evidence.cluster, recovered.head)),
                      .reserve = TRY(Reserve::open(options.folder, options.reserve_bytes)),
                      .head = recovered.head,
                      .first = recovered.first,
                      .checkpoint_pages = std::clamp(options.checkpoint_pages, 1, std::max(1, page_limit))};
  std::unique_ptr<SqliteLog> log(
      new SqliteLog(options, std::move(*lock), evidence.cluster, std::move(snapshots)));
  log->writer_ = std::make_unique<Writer>(std::move(parts));
  return log;
}

Status SqliteLog::read(std::uint64_t from, const Visit& visit) {
  from = std::max<std::uint64_t>(from, 1);
  TRY(check_read(from, first()));
  Hash previous;
  for (;;) {
    const auto rows =
        TRY(writer_->run([&](Tables& tables) { return tables.rows(from, kRowsARead, kBytesARead); }));
    if (rows.empty()) return Done{};
    for (const Row& row : rows) {
      auto record = unseal(row);
      if (!record) return std::move(record).error().under(options_.folder + "/log.db");
      if (row.position != from || (!previous.empty() && record->previous != previous)) {
        return Error{Errc::unavailable, options_.folder + "/log.db: the chain is broken before record " +
                                            std::to_string(row.position)};
      }
      if (!visit(*record)) return Done{};
      previous = row.hash;
      from = row.position + 1;
    }
  }
}

Result<Hash> SqliteLog::hash_at(std::uint64_t position) {
  if (position == 0) return genesis(cluster_).hash;
  const auto rows = TRY(writer_->run([&](Tables& tables) { return tables.rows(position, 1, 1); }));
  if (rows.empty() || rows.front().position != position) return no_such_record(position);
  return rows.front().hash;
}

Status SqliteLog::check_seen(std::uint64_t position, const Hash& hash) {
  const std::string name = options_.folder + "/log.db";
  const std::uint64_t end = head().position;
  if (position > end) return behind(name, end, position);
  const auto own = hash_at(position);
  if (own && *own != hash) return other_story(name, position);
  // What was cut away can't be compared; all that came after it is chained to it.
  return own || own.error().code == Errc::not_found ? Status(Done{}) : Status(own.error());
}

Result<std::string> SqliteLog::payload(const Hash& hash) {
  return writer_->run([&](Tables& tables) { return tables.payloads().read(hash); });
}

Status SqliteLog::write_snapshot(std::uint64_t position, std::string_view bytes, const std::vector<Hash>& payloads) {
  const std::lock_guard lock(snapshots_mutex_);
  SnapshotFiles::File file{.position = position, .hash = TRY(hash_at(position))};
  if (position > head().position) return no_such_record(position);
  if (!snapshots_.whole().empty() && position <= snapshots_.whole().back().position) return no_newer_snapshot(position);
  const Space room = space();
  if (room.free_bytes < bytes.size() + options_.reserve_bytes / 2 && room.low) {
    return Error{Errc::exhausted, options_.folder + ": no room for a snapshot of " + std::to_string(bytes.size()) +
                                      " bytes"};
  }
  // Before the file: a payload that is kept too long does no harm, one that is dropped too early does.
  for (std::size_t at = 0; at < payloads.size(); at += kTouchesACommit) {
    Status touched = writer_->write([&](Tables& tables) -> Status {
      const std::size_t end = std::min(at + kTouchesACommit, payloads.size());
      for (std::size_t i = at; i < end; ++i) TRY(tables.payloads().touch(payloads[i], position));
      return Done{};
    });
    if (!touched) return touched;
  }
  return snapshots_.write(file, bytes);
}

Result<std::optional<Snapshot>> SqliteLog::latest_snapshot() {
  const std::lock_guard lock(snapshots_mutex_);
  if (snapshots_.whole().empty()) return std::optional<Snapshot>{};
  const SnapshotFiles::File& file = snapshots_.whole().back();
  Snapshot snapshot{.position = file.position, .hash = file.hash, .bytes = TRY(snapshots_.read(file)), .warning = {}};
  for (const std::string& damaged : snapshots_.damaged()) {
    if (!snapshot.warning.empty()) snapshot.warning += "; ";
    snapshot.warning += damaged;
  }
  return std::optional(std::move(snapshot));
}

Result<std::optional<Snapshot>> SqliteLog::older_snapshot() {
  const std::lock_guard lock(snapshots_mutex_);
  const auto& whole = snapshots_.whole();
  if (whole.size() < 2) return std::optional<Snapshot>{};
  const SnapshotFiles::File& file = whole[whole.size() - 2];
  return std::optional(
      Snapshot{.position = file.position, .hash = file.hash, .bytes = TRY(snapshots_.read(file)), .warning = {}});
}

Status SqliteLog::trim(std::uint64_t below) {
  const std::lock_guard lock(snapshots_mutex_);
  TRY(check_trim(below, snapshots_.covered()));
  return writer_->trim(below);
}

}  // namespace drover::store
