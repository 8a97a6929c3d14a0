#include "store/sqlite/reserve.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "os/clock.h"

namespace drover::store {
namespace {

constexpr std::int64_t kFreshMs = 20;

}  // namespace

Result<std::unique_ptr<Reserve>> Reserve::open(const std::string& folder, std::uint64_t wanted) {
  const DiskSpace disk = TRY(disk_space(folder));
  Fd file = TRY(open_file(folder + "/reserve", O_RDWR | O_CREAT));
  std::unique_ptr<Reserve> reserve(new Reserve(std::move(file), folder, std::min(wanted, disk.total / 8)));
  const off_t size = ::lseek(reserve->file_.get(), 0, SEEK_END);
  if (size > 0 && static_cast<std::uint64_t>(size) == reserve->wanted_) {
    reserve->held_ = reserve->wanted_;
  } else {
    // One of another size, from other options: start anew.
    reserve->release();
  }
  reserve->look();
  return reserve;
}

void Reserve::measure() const {
  const auto disk = disk_space(folder_);
  const std::uint64_t free = disk ? disk->free : 0;
  free_ = free;
  measured_ms_ = since_boot().count();
  // A quarter apart, so that the answer doesn't flicker at the limit.
  const bool was_low = low_;
  low_ = held_ < wanted_ || free < (was_low ? wanted_ + wanted_ / 4 : wanted_);
}

void Reserve::look() {
  measure();
  const std::uint64_t free = free_;
  if (held_ > 0 && free < wanted_ / 4) {
    release();
  } else if (wanted_ > 0 && held_ == 0 && free >= 2 * wanted_ + wanted_ / 4) {
    if (preallocate(file_, wanted_, "reserve")) {
      held_ = wanted_;
    } else {
      release();
    }
    measure();
  }
}

bool Reserve::release() {
  const bool held = held_ > 0;
  if (::ftruncate(file_.get(), 0) != 0) return false;
  held_ = 0;
  measure();
  return held;
}

Space Reserve::space() const {
  if (since_boot().count() - measured_ms_ >= kFreshMs) measure();
  return Space{.low = low_, .free_bytes = free_, .reserve_bytes = held_};
}

}  // namespace drover::store
