#include "store/sqlite/tables.h"

#include <algorithm>

#include "base/text.h"
#include "store/format.h"

namespace drover::store {
namespace {

// In order of their names, so that the file's own list can be compared.
constexpr const char* kSchema[] = {
    "CREATE TABLE meta(format INTEGER NOT NULL, cluster TEXT NOT NULL)",
    "CREATE TABLE payload_uses(id INTEGER PRIMARY KEY, used INTEGER NOT NULL)",
    "CREATE TABLE payloads(id INTEGER PRIMARY KEY, hash BLOB NOT NULL, body BLOB NOT NULL)",
    "CREATE TABLE records(position INTEGER PRIMARY KEY, crc INTEGER NOT NULL, hash BLOB NOT NULL, body BLOB NOT NULL)",
};

int note_wal_pages(void* pages, sqlite3*, const char*, int count) {
  *static_cast<int*>(pages) = count;
  return SQLITE_OK;
}

Result<std::vector<std::string>> schema_of(Database& database) {
  const Statement statement =
      TRY(Statement::prepare(database, "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name"));
  Query query(database, statement);
  std::vector<std::string> schema;
  while (TRY(query.step())) schema.push_back(query.bytes(0));
  return schema;
}

Error damaged(const Database& database, std::string what) {
  return Error{Errc::unavailable, "it is damaged: " + std::move(what)}.under(database.path());
}

std::int64_t signed_of(std::uint64_t value) { return static_cast<std::int64_t>(value); }
std::uint64_t unsigned_of(std::int64_t value) { return static_cast<std::uint64_t>(value); }

}  // namespace

Result<Tables::Opened> Tables::open(const std::string& path) {
  Database database = TRY(Database::open(path, /*exclusive=*/true));
  TRY(database.run("PRAGMA synchronous=FULL"));
  TRY(database.run("PRAGMA cell_size_check=ON"));
  Opened opened;
  opened.tables.reset(new Tables(std::move(database)));
  // We checkpoint ourselves, between commits, and see its errors.
  sqlite3_wal_hook(opened.tables->database_.handle(), note_wal_pages, &opened.tables->wal_pages_);
  const auto schema = TRY(schema_of(opened.tables->database_));
  if (schema.empty()) return opened;
  const std::string format = TRY(opened.tables->database_.ask("SELECT format FROM meta"));
  if (format != std::to_string(kFormat)) return other_format(path, format);
  if (!std::equal(schema.begin(), schema.end(), std::begin(kSchema), std::end(kSchema))) {
    return damaged(opened.tables->database_, "its tables are not those of a drover log");
  }
  opened.cluster = TRY(opened.tables->database_.ask("SELECT cluster FROM meta"));
  TRY(opened.tables->prepare());
  return opened;
}

Status Tables::create(const std::string& cluster) {
  TRY(begin());
  for (const char* sql : kSchema) TRY(database_.run(sql));
  const std::string meta = "INSERT INTO meta VALUES(" + std::to_string(kFormat) + ", '" + cluster + "')";
  TRY(database_.run(meta.c_str()));
  TRY(commit());
  return prepare();
}

Status Tables::prepare() {
  const auto make = [&](Statement& statement, const char* sql) -> Status {
    statement = TRY(Statement::prepare(database_, sql));
    return Done{};
  };
  Statements& s = statements_;
  TRY(make(s.range, "SELECT min(position), max(position) FROM records"));
  TRY(make(s.insert, "INSERT INTO records VALUES(?1, ?2, ?3, ?4)"));
  TRY(make(s.rows, "SELECT position, crc, hash, body FROM records WHERE position >= ?1 ORDER BY position LIMIT ?2"));
  return make(s.delete_records, "DELETE FROM records WHERE position < ?1");
}

Status Tables::commit() {
  TRY(database_.run("COMMIT"));
  payloads_.committed();
  return Done{};
}

void Tables::roll_back() {
  database_.roll_back();
  payloads_.rolled_back();
}

Status Tables::check() {
  const std::string answer = TRY(database_.ask("PRAGMA quick_check(1)"));
  if (answer != "ok") return damaged(database_, printable(answer));
  return payloads_.load();
}

Result<Tables::Range> Tables::range() {
  Query query(database_, statements_.range);
  TRY(query.step());
  return Range{unsigned_of(query.number(0)), unsigned_of(query.number(1))};
}

Status Tables::insert(const Row& row) {
  Query query(database_, statements_.insert);
  query.number(1, signed_of(row.position)).number(2, std::int64_t{row.crc}).blob(3, row.hash).blob(4, row.bytes);
  return query.run();
}

Result<std::vector<Row>> Tables::rows(std::uint64_t from, std::size_t most_rows, std::size_t most_bytes) {
  Query query(database_, statements_.rows);
  query.number(1, signed_of(from)).number(2, static_cast<std::int64_t>(most_rows));
  std::vector<Row> rows;
  for (std::size_t bytes = 0; bytes < most_bytes;) {
    if (!TRY(query.step())) break;
    rows.push_back(Row{.position = unsigned_of(query.number(0)),
                       .crc = static_cast<std::uint32_t>(query.number(1)),
                       .hash = query.bytes(2),
                       .bytes = query.bytes(3)});
    bytes += rows.back().bytes.size() + sizeof(Row);
  }
  return rows;
}

Result<std::uint64_t> Tables::delete_records(std::uint64_t below, std::uint64_t most) {
  const Range held = TRY(range());
  if (held.first == 0 || held.first >= below) return std::uint64_t{0};
  const std::uint64_t end = std::min(below, held.first + most);
  Query query(database_, statements_.delete_records);
  TRY(query.number(1, signed_of(end)).run());
  return end - held.first;
}

Status Tables::checkpoint() {
  const int code =
      sqlite3_wal_checkpoint_v2(database_.handle(), nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  if (code != SQLITE_OK) return database_.error(code);
  wal_pages_ = 0;
  return Done{};
}

}  // namespace drover::store
