// What must be true of a store before anything is read from it: every record whole and chained, the
// head where the evidence says, a snapshot where the log begins. Otherwise it is refused, and the
// refusal names file and position.
#pragma once

#include <string>

#include "store/sqlite/head_file.h"
#include "store/sqlite/snapshot_files.h"
#include "store/sqlite/tables.h"

namespace drover::store {

struct Recovered {
  Head head;
  std::uint64_t first = 1;
};
Result<Recovered> recover(Tables& tables, const SnapshotFiles& snapshots, const HeadFile::Seen& evidence,
                          const std::string& log_path);

}  // namespace drover::store
