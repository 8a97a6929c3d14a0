#include "store/history/history.h"

#include "base/proto.h"
#include "base/text.h"
#include "store/chain.h"
#include "store/format.h"
#include "store/history/where.h"

namespace drover::store {
namespace {

// The columns are what filters ask for; the row itself is one value with a CRC.
constexpr const char* kSchema = R"(
  CREATE TABLE IF NOT EXISTS meta(format INTEGER NOT NULL, cluster TEXT NOT NULL, position INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS jobs(
    job INTEGER NOT NULL, restart INTEGER NOT NULL, array_job INTEGER NOT NULL, array_task INTEGER NOT NULL,
    name TEXT NOT NULL, user TEXT NOT NULL, account TEXT NOT NULL, partition TEXT NOT NULL, qos TEXT NOT NULL,
    cause INTEGER NOT NULL, submit_ms INTEGER NOT NULL, eligible_ms INTEGER NOT NULL, start_ms INTEGER NOT NULL,
    until_ms INTEGER NOT NULL, crc INTEGER NOT NULL, row BLOB NOT NULL, nodes TEXT NOT NULL,
    PRIMARY KEY(job, restart)) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS jobs_by_array ON jobs(array_job) WHERE array_job > 0;
  CREATE INDEX IF NOT EXISTS jobs_by_end ON jobs(until_ms);
)";

constexpr const char* kStepSchema = R"(
  CREATE TABLE IF NOT EXISTS steps(
    job INTEGER NOT NULL, restart INTEGER NOT NULL, step INTEGER NOT NULL, crc INTEGER NOT NULL, row BLOB NOT NULL,
    PRIMARY KEY(job, restart, step)) WITHOUT ROWID;
)";

std::int64_t number_of(JobId id) { return static_cast<std::int64_t>(id.value()); }

// ",n1,n2,": so that one node can be found in it.
std::string marked(const std::vector<std::string>& nodes) {
  std::string text = ",";
  for (const std::string& node : nodes) text += node + ",";
  return text;
}

std::int64_t milliseconds_of(Instant at) { return at.time_since_epoch().count(); }

// Columns: CRC, row, job.
template <class Row>
Result<Row> row_of(const Database& database, const Query& query) {
  const std::string bytes = query.bytes(1);
  const std::string name = "the row of job " + std::to_string(query.number(2));
  if (crc32_of(bytes) != static_cast<std::uint32_t>(query.number(0))) {
    return Error{Errc::unavailable, name + " is damaged: its CRC differs"}.under(database.path());
  }
  auto row = decode<Row>(bytes);
  if (!row) return std::move(row).error().under(database.path() + ": " + name);
  return row;
}

}  // namespace

Result<std::unique_ptr<History>> History::open(const std::string& path, const std::string& cluster) {
  Database writer = TRY(Database::open(path, /*exclusive=*/false));
  sqlite3_busy_timeout(writer.handle(), 5000);
  TRY(writer.run("PRAGMA synchronous=NORMAL"));
  Database reader = TRY(Database::open(path, /*exclusive=*/false));
  sqlite3_busy_timeout(reader.handle(), 5000);
  std::unique_ptr<History> history(new History(std::move(writer), std::move(reader)));
  TRY(history->prepare(cluster));
  return history;
}

Status History::prepare(const std::string& cluster) {
  const std::string& path = writer_.path();
  const std::string exists = TRY(writer_.ask("SELECT count(*) FROM sqlite_schema WHERE name = 'meta'"));
  if (exists == "0") {
    const std::string meta = "INSERT INTO meta VALUES(" + std::to_string(kFormat) + ", '" + cluster + "', 0)";
    TRY(writer_.run((std::string("BEGIN IMMEDIATE;") + kSchema + meta + "; COMMIT").c_str()));
  }
  const std::string format = TRY(writer_.ask("SELECT format FROM meta"));
  if (format != std::to_string(kFormat)) return other_format(path, format);
  const std::string own = TRY(writer_.ask("SELECT cluster FROM meta"));
  if (own != cluster) {
    return Error{Errc::conflict, path + ": it is the history of cluster " + printable(own) + ", not of " + cluster};
  }
  TRY(writer_.run(kStepSchema));
  put_step_ = TRY(Statement::prepare(writer_, "INSERT OR REPLACE INTO steps VALUES(?1,?2,?3,?4,?5)"));
  read_steps_ = TRY(Statement::prepare(
      reader_, "SELECT crc, row, job FROM steps WHERE job = ?1 AND restart = ?2 ORDER BY step"));
  put_ = TRY(Statement::prepare(
      writer_, "INSERT OR REPLACE INTO jobs VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17)"));
  read_position_ = TRY(Statement::prepare(writer_, "SELECT position FROM meta"));
  set_position_ = TRY(Statement::prepare(writer_, "UPDATE meta SET position = ?1"));
  return Done{};
}

Result<std::uint64_t> History::position() {
  const std::lock_guard lock(writer_mutex_);
  Query query(writer_, read_position_);
  if (!TRY(query.step())) return Error{Errc::unavailable, writer_.path() + ": it is damaged: its position is missing"};
  return static_cast<std::uint64_t>(query.number(0));
}

Status History::put(const HistoryRow& row) {
  const std::string bytes = encode(row);
  Query query(writer_, put_);
  query.number(1, number_of(row.job)).number(2, row.restarts);
  query.number(3, number_of(row.array)).number(4, row.task == kNoTask ? -1 : std::int64_t{row.task});
  query.text(5, row.name).text(6, row.user).text(7, row.account).text(8, row.partition).text(9, row.qos);
  query.number(10, static_cast<std::int64_t>(row.cause)).number(11, milliseconds_of(row.submitted));
  query.number(12, milliseconds_of(row.eligible));
  query.number(13, milliseconds_of(row.started));
  query.number(14, row.ended == Instant{} ? kNoEnd : milliseconds_of(row.ended)).text(17, marked(row.nodes));
  query.number(15, crc32_of(bytes)).blob(16, bytes);
  return query.run();
}

Status History::put(const EndedStep& step) {
  const std::string bytes = encode(step.row);
  Query query(writer_, put_step_);
  query.number(1, number_of(step.job)).number(2, step.restarts).number(3, step.row.number);
  query.number(4, crc32_of(bytes)).blob(5, bytes);
  return query.run();
}

Status History::upsert(std::uint64_t position, std::span<const HistoryRow> rows, std::span<const EndedStep> steps) {
  if (position <= TRY(this->position())) return Done{};
  const std::lock_guard lock(writer_mutex_);
  const auto write = [&]() -> Status {
    TRY(writer_.run("BEGIN IMMEDIATE"));
    for (const HistoryRow& row : rows) TRY(put(row));
    for (const EndedStep& step : steps) TRY(put(step));
    {
      Query query(writer_, set_position_);
      TRY(query.number(1, static_cast<std::int64_t>(position)).run());
    }
    return writer_.run("COMMIT");
  };
  Status status = write();
  if (!status) writer_.roll_back();
  return status;
}

Result<std::uint64_t> History::settle() {
  const std::uint64_t reached = TRY(position());
  const std::lock_guard lock(writer_mutex_);
  // A whole checkpoint syncs the write-ahead log and then the file.
  const int code = sqlite3_wal_checkpoint_v2(writer_.handle(), nullptr, SQLITE_CHECKPOINT_FULL, nullptr, nullptr);
  if (code != SQLITE_OK) return writer_.error(code);
  return reached;
}

Result<std::vector<HistoryRow>> History::query(const HistoryQuery& filter) {
  const Where condition = where(filter);
  const std::lock_guard lock(reader_mutex_);
  const Statement statement =
      TRY(Statement::prepare(reader_, ("SELECT crc, row, job FROM jobs " + condition.sql).c_str()));
  Query query(reader_, statement);
  int index = 0;
  for (const auto& value : condition.values) {
    ++index;
    if (const auto* number = std::get_if<std::int64_t>(&value)) query.number(index, *number);
    if (const auto* text = std::get_if<std::string>(&value)) query.text(index, *text);
  }
  std::vector<HistoryRow> rows;
  while (TRY(query.step())) rows.push_back(TRY(row_of<HistoryRow>(reader_, query)));
  if (filter.steps) {
    for (HistoryRow& row : rows) row.steps = TRY(read_steps(row.job, row.restarts));
  }
  return rows;
}

Result<std::vector<StepRow>> History::steps(JobId job, std::uint32_t restarts) {
  const std::lock_guard lock(reader_mutex_);
  return read_steps(job, restarts);
}

Result<std::vector<StepRow>> History::read_steps(JobId job, std::uint32_t restarts) {
  Query query(reader_, read_steps_);
  query.number(1, number_of(job)).number(2, restarts);
  std::vector<StepRow> steps;
  while (TRY(query.step())) steps.push_back(TRY(row_of<StepRow>(reader_, query)));
  return steps;
}

}  // namespace drover::store
