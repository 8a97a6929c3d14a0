// A preallocated file that is given up when the disk fills, so that facts from agents still find
// room while wishes are refused; and taken again when room returns.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "os/file.h"
#include "store/record.h"

namespace drover::store {

class Reserve {
 public:
  // At most an eighth of the file system is reserved, however much is wanted.
  static Result<std::unique_ptr<Reserve>> open(const std::string& folder, std::uint64_t wanted);

  // Looks at the disk: gives the reserve up when hardly anything else is free, takes it again when
  // there is room. For the writer's thread.
  void look();
  // Gives the reserve up now; false when there was nothing to give.
  bool release();
  // From any thread; at most a few milliseconds old.
  [[nodiscard]] Space space() const;
  [[nodiscard]] std::uint64_t wanted() const { return wanted_; }

 private:
  Reserve(Fd file, std::string folder, std::uint64_t wanted)
      : file_(std::move(file)), folder_(std::move(folder)), wanted_(wanted) {}
  void measure() const;

  Fd file_;
  const std::string folder_;
  const std::uint64_t wanted_;
  std::atomic<std::uint64_t> held_ = 0;
  mutable std::atomic<std::uint64_t> free_ = 0;
  mutable std::atomic<std::int64_t> measured_ms_ = 0;
  mutable std::atomic<bool> low_ = false;
};

}  // namespace drover::store
