#include "store/sqlite/database.h"

namespace drover::store {

Result<Database> Database::open(const std::string& path, bool exclusive) {
  Database database;
  database.path_ = path;
  sqlite3* handle = nullptr;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW;
  const int code = sqlite3_open_v2(path.c_str(), &handle, flags, nullptr);
  database.handle_.reset(handle);
  if (code != SQLITE_OK) return database.error(code);
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  // Before journal_mode: only so does WAL keep its index in our memory instead of a shared file.
  if (exclusive) TRY(database.run("PRAGMA locking_mode=EXCLUSIVE"));
  TRY(database.run("PRAGMA trusted_schema=OFF"));
  const std::string mode = TRY(database.ask("PRAGMA journal_mode=WAL"));
  if (mode != "wal") return Error{Errc::unavailable, path + ": cannot keep a write-ahead log here"};
  return database;
}

Status Database::run(const char* sql) {
  const int code = sqlite3_exec(handle(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return error(code);
  return Done{};
}

Result<std::string> Database::ask(const char* sql) {
  const Statement statement = TRY(Statement::prepare(*this, sql));
  Query query(*this, statement);
  if (!TRY(query.step())) return std::string{};
  return query.bytes(0);
}

void Database::roll_back() {
  if (sqlite3_get_autocommit(handle()) == 0) sqlite3_exec(handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

Error Database::error(int code) const {
  const std::string why = handle_ ? sqlite3_errmsg(handle()) : sqlite3_errstr(code);
  switch (code & 0xff) {
    case SQLITE_FULL: return Error{Errc::exhausted, "no space left on the disk"}.under(path_);
    case SQLITE_BUSY: return Error{Errc::conflict, "another process holds it open"}.under(path_);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return Error{Errc::unavailable, "it is damaged: " + why}.under(path_);
    default: return Error{Errc::unavailable, why + " (" + std::to_string(code) + ")"}.under(path_);
  }
}

Result<Statement> Statement::prepare(const Database& database, const char* sql) {
  sqlite3_stmt* handle = nullptr;
  const int code = sqlite3_prepare_v3(database.handle(), sql, -1, SQLITE_PREPARE_PERSISTENT, &handle, nullptr);
  Statement statement;
  statement.handle_.reset(handle);
  if (code != SQLITE_OK) return database.error(code);
  return statement;
}

Result<bool> Query::step() {
  const int code = sqlite3_step(handle_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return database_.error(code);
}

Status Query::run() {
  TRY(step());
  return Done{};
}

std::string_view Query::view(int column) const {
  const auto* data = static_cast<const char*>(sqlite3_column_blob(handle_, column));
  if (data == nullptr) return {};
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(handle_, column))};
}

}  // namespace drover::store
