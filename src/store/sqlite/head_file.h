// Head evidence: position and hash of the log's head in a small file of its own, so that a log that
// lost its tail can't pass for a whole one.
//
// It is written after each commit but synced only now and then: a killed process loses nothing of it,
// and after a power cut it may be older than the log, never newer. Two slots take turns, so that a
// torn write leaves the other one.
#pragma once

#include <string>

#include "os/file.h"
#include "store/record.h"

namespace drover::store {

class HeadFile {
 public:
  struct Seen {
    std::string cluster;
    Head head;  // without the instant
  };
  // Errc::not_found when there is no file; unavailable when both slots are damaged.
  static Result<Seen> read(const std::string& path);
  // Opens or makes the file, writes `head` to both slots and syncs.
  static Result<HeadFile> open(const std::string& path, const std::string& cluster, const Head& head);

  Status write(const Head& head);
  // No more than what was written is synced; does nothing when nothing was.
  Status sync();
  // Both slots, synced: needed before the log is cut, so that no slot speaks of what is gone.
  Status settle(const Head& head);

 private:
  HeadFile(Fd file, std::string path, std::string cluster)
      : file_(std::move(file)), path_(std::move(path)), cluster_(std::move(cluster)) {}

  Fd file_;
  std::string path_;
  std::string cluster_;
  std::uint64_t turn_ = 0;
  bool dirty_ = false;
};

}  // namespace drover::store
