#include "store/sqlite/head_file.h"

#include <fcntl.h>

#include <algorithm>
#include <optional>

#include "store/chain.h"
#include "store/format.h"

namespace drover::store {
namespace {

constexpr std::string_view kMagic = "drv-head";
constexpr std::uint64_t kSlotDistance = 4096;
constexpr std::size_t kBody = 8 + 8 + 8 + 8 + 8 + 32 + 32;
constexpr std::size_t kSlot = kBody + 8;

std::string slot_bytes(const std::string& cluster, const Head& head, std::uint64_t turn) {
  CHECK(cluster.size() == 32 && head.hash.size() == 32);
  FixedWriter out;
  out.bytes(kMagic).number(kFormat).number(turn).number(head.position).number(head.epoch);
  out.bytes(head.hash).bytes(cluster);
  out.number(crc32_of(out.str()));
  return out.str();
}

struct Slot {
  std::uint64_t turn = 0;
  HeadFile::Seen seen;
};

std::optional<Slot> parse_slot(std::string_view bytes) {
  if (bytes.size() < kSlot || !bytes.starts_with(kMagic)) return std::nullopt;
  if (FixedReader(bytes.substr(kBody)).number() != crc32_of(bytes.substr(0, kBody))) return std::nullopt;
  FixedReader in(bytes.substr(kMagic.size()));
  if (in.number() != kFormat) return std::nullopt;
  Slot slot;
  slot.turn = in.number();
  slot.seen.head.position = in.number();
  slot.seen.head.epoch = in.number();
  slot.seen.head.hash = in.bytes(32);
  slot.seen.cluster = in.bytes(32);
  return slot;
}

}  // namespace

Result<HeadFile::Seen> HeadFile::read(const std::string& path) {
  const Fd file = TRY(open_file(path, O_RDONLY));
  std::optional<Slot> newest;
  for (const std::uint64_t offset : {std::uint64_t{0}, kSlotDistance}) {
    const auto slot = parse_slot(TRY(read_at(file, kSlot, offset, path)));
    if (slot && (!newest || slot->turn > newest->turn)) newest = slot;
  }
  if (newest) return newest->seen;
  return Error{Errc::unavailable, path + ": it is damaged at offset 0: neither of its slots is whole"};
}

Result<HeadFile> HeadFile::open(const std::string& path, const std::string& cluster, const Head& head) {
  if (!file_exists(path)) {
    std::string bytes = slot_bytes(cluster, head, 0);
    bytes.resize(kSlotDistance, '\0');
    bytes += slot_bytes(cluster, head, 1);
    bytes.resize(2 * kSlotDistance, '\0');
    TRY(write_file_durably(path, bytes));
  }
  HeadFile opened(TRY(open_file(path, O_RDWR)), path, cluster);
  // Continue the count where the newest slot is, so that a crash within settle() can't confuse them.
  for (const std::uint64_t offset : {std::uint64_t{0}, kSlotDistance}) {
    const auto slot = parse_slot(TRY(read_at(opened.file_, kSlot, offset, path)));
    if (slot) opened.turn_ = std::max(opened.turn_, slot->turn + 1);
  }
  TRY(opened.settle(head));
  return opened;
}

Status HeadFile::write(const Head& head) {
  dirty_ = true;
  const std::uint64_t offset = turn_ % 2 * kSlotDistance;
  return write_at(file_, slot_bytes(cluster_, head, turn_++), offset, path_);
}

Status HeadFile::sync() {
  if (!dirty_) return Done{};
  TRY(sync_data(file_, path_));
  dirty_ = false;
  return Done{};
}

Status HeadFile::settle(const Head& head) {
  TRY(write(head));
  TRY(write(head));
  return sync();
}

}  // namespace drover::store
