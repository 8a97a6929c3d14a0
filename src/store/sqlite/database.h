// SQLite with our errors and scopes: one connection, prepared statements, queries that always reset.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace drover::store {

// Exhausted: the disk is full; conflict: another process holds the file; unavailable: the rest,
// damage included.
class Database {
 public:
  // Opens or makes the file. `exclusive`: nobody else may open it while we do, and no
  // shared memory file is needed.
  static Result<Database> open(const std::string& path, bool exclusive);

  [[nodiscard]] sqlite3* handle() const { return handle_.get(); }
  [[nodiscard]] const std::string& path() const { return path_; }
  Status run(const char* sql);
  // The first column of the first row as text; "" when there is no row.
  Result<std::string> ask(const char* sql);
  void roll_back();
  [[nodiscard]] Error error(int code) const;

 private:
  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
  };
  std::string path_;
  std::unique_ptr<sqlite3, Close> handle_;
};

class Statement {
 public:
  Statement() = default;
  static Result<Statement> prepare(const Database& database, const char* sql);
  [[nodiscard]] sqlite3_stmt* handle() const { return handle_.get(); }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
};

// One use of a statement. Texts and blobs must outlive it; columns live until the next step.
class Query {
 public:
  Query(const Database& database, const Statement& statement) : database_(database), handle_(statement.handle()) {}
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;
  ~Query() {
    sqlite3_reset(handle_);
    sqlite3_clear_bindings(handle_);
  }
  Query& number(int index, std::int64_t value) {
    sqlite3_bind_int64(handle_, index, value);
    return *this;
  }
  Query& blob(int index, std::string_view bytes) {
    sqlite3_bind_blob64(handle_, index, bytes.empty() ? "" : bytes.data(), bytes.size(), SQLITE_STATIC);
    return *this;
  }
  Query& text(int index, std::string_view bytes) {
    sqlite3_bind_text64(handle_, index, bytes.empty() ? "" : bytes.data(), bytes.size(), SQLITE_STATIC, SQLITE_UTF8);
    return *this;
  }
  // True: there is a row.
  Result<bool> step();
  // For statements without rows.
  Status run();
  [[nodiscard]] std::int64_t number(int column) const { return sqlite3_column_int64(handle_, column); }
  [[nodiscard]] std::string bytes(int column) const { return std::string(view(column)); }
  [[nodiscard]] std::string_view view(int column) const;

 private:
  const Database& database_;
  sqlite3_stmt* handle_;
};

}  // namespace drover::store
