// Snapshots as files beside the log: snapshot-<position>. A file is whole or refused by name and
// offset; the newest two are kept.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "store/record.h"

namespace drover::store {

class SnapshotFiles {
 public:
  struct File {
    std::uint64_t position = 0;
    Hash hash;  // of the record at position
  };
  // Reads and checks every snapshot in the folder. Damaged ones are left where they are, and named in
  // damaged(); so are those of another format or cluster.
  static Result<SnapshotFiles> open(const std::string& folder, const std::string& cluster);

  [[nodiscard]] const std::vector<File>& whole() const { return whole_; }  // the oldest first
  [[nodiscard]] const std::vector<std::string>& damaged() const { return damaged_; }
  // What the log may be cut to: the position of the older of two snapshots, else 0.
  [[nodiscard]] std::uint64_t covered() const { return whole_.size() < 2 ? 0 : whole_[whole_.size() - 2].position; }

  // Durable when it returns; then those older than the newest two are removed.
  Status write(const File& file, std::string_view bytes);
  Result<std::string> read(const File& file) const;

 private:
  SnapshotFiles(std::string folder, std::string cluster) : folder_(std::move(folder)), cluster_(std::move(cluster)) {}
  [[nodiscard]] std::string path(std::uint64_t position) const;

  std::string folder_;
  std::string cluster_;
  std::vector<File> whole_;
  std::vector<std::string> damaged_;
};

}  // namespace drover::store
