// The tables of log.db. Each call is one step of a transaction that the caller opens; for one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "store/chain.h"
#include "store/sqlite/database.h"
#include "store/sqlite/payload_table.h"

namespace drover::store {

class Tables {
 public:
  // Nothing when the file holds no log yet.
  struct Opened {
    std::unique_ptr<Tables> tables;
    std::optional<std::string> cluster;
  };
  // Opens or makes the file. Another format and a damaged file are refused.
  static Result<Opened> open(const std::string& path);
  // Makes the tables of a new log.
  Status create(const std::string& cluster);
  // Finds what the records alone don't show: lost pages, broken trees, damaged or lost payloads. Reads
  // the whole file; before it there are no payloads.
  Status check();

  Status begin() { return database_.run("BEGIN IMMEDIATE"); }
  Status commit();
  void roll_back();

  // 0, 0 when there is no record.
  struct Range {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
  };
  Result<Range> range();
  Status insert(const Row& row);
  // Rows from `from` on, as many as fit into the limits, but at least one if there is one.
  Result<std::vector<Row>> rows(std::uint64_t from, std::size_t most_rows, std::size_t most_bytes);
  // Deletes at most `most` records before `below`; how many it was.
  Result<std::uint64_t> delete_records(std::uint64_t below, std::uint64_t most);

  [[nodiscard]] PayloadTable& payloads() { return payloads_; }

  // Pages in the write-ahead log that aren't yet in the database file.
  [[nodiscard]] int wal_pages() const { return wal_pages_; }
  // Copies them there. The log is reused from its beginning afterwards.
  Status checkpoint();

 private:
  explicit Tables(Database database) : database_(std::move(database)) {}
  Status prepare();

  struct Statements {
    Statement range, insert, rows, delete_records;
  };
  Database database_;
  Statements statements_;
  PayloadTable payloads_{database_};
  int wal_pages_ = 0;
};

}  // namespace drover::store
