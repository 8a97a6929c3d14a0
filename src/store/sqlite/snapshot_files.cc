#include "store/sqlite/snapshot_files.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"
#include "os/file.h"
#include "store/chain.h"
#include "store/format.h"

namespace drover::store {
namespace {

// Header, body, then the CRC of each chunk of the body, by which damage is given an offset.
constexpr std::string_view kMagic = "drv-snap";
constexpr std::string_view kPrefix = "snapshot-";
constexpr std::size_t kChunk = 1 << 16;
constexpr std::size_t kHeaderBody = 8 + 8 + 8 + 8 + 32 + 32 + 32;
constexpr std::size_t kHeader = kHeaderBody + 8;

struct Whole {
  SnapshotFiles::File file;
  std::string body;
};

std::string chunk_crcs(std::string_view body) {
  FixedWriter out;
  for (std::size_t at = 0; at < body.size(); at += kChunk) out.number(crc32_of(body.substr(at, kChunk)));
  return out.str();
}

std::string header_of(const SnapshotFiles::File& file, std::string_view body, const std::string& cluster) {
  CHECK(cluster.size() == 32 && file.hash.size() == 32);
  FixedWriter out;
  out.bytes(kMagic).number(kFormat).number(file.position).number(body.size());
  out.bytes(file.hash).bytes(sha256(body)).bytes(cluster);
  out.number(crc32_of(out.str()));
  return out.str();
}

Error damaged_at(const std::string& path, std::size_t offset, std::string_view what) {
  return {Errc::unavailable,
          path + ": it is damaged at offset " + std::to_string(offset) + ": " + std::string(what)};
}

Result<Whole> parse(const std::string& path, std::string bytes, const std::string& cluster) {
  const std::string_view all = bytes;
  if (all.size() < kHeader) return damaged_at(path, all.size(), "it ends within its header");
  if (!all.starts_with(kMagic)) return damaged_at(path, 0, "it does not begin as a snapshot");
  if (FixedReader(all.substr(kHeaderBody)).number() != crc32_of(all.substr(0, kHeaderBody))) {
    return damaged_at(path, 0, "the CRC of its header differs");
  }
  FixedReader in(all.substr(kMagic.size()));
  if (const std::uint64_t format = in.number(); format != kFormat) return other_format(path, std::to_string(format));
  Whole whole;
  whole.file.position = in.number();
  const std::uint64_t length = in.number();
  whole.file.hash = in.bytes(32);
  const Hash body_hash(in.bytes(32));
  if (in.bytes(32) != cluster) return Error{Errc::conflict, path + ": it is the snapshot of another cluster"};
  const std::size_t chunks = (length + kChunk - 1) / kChunk;
  if (all.size() - kHeader != length + chunks * 8) return damaged_at(path, all.size(), "it has another length");
  const std::string_view body = all.substr(kHeader, length);
  const std::string_view crcs = all.substr(kHeader + length);
  const std::string expected = chunk_crcs(body);
  const auto differs = std::mismatch(crcs.begin(), crcs.end(), expected.begin()).first;
  if (differs != crcs.end()) {
    const auto chunk = static_cast<std::size_t>(differs - crcs.begin()) / 8;
    return damaged_at(path, kHeader + chunk * kChunk, "the CRC of this chunk differs");
  }
  if (sha256(body) != body_hash) return damaged_at(path, kHeader, "the SHA-256 of its body differs");
  bytes.erase(kHeader + length).erase(0, kHeader);
  whole.body = std::move(bytes);
  return whole;
}

std::optional<std::uint64_t> position_of(std::string_view name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  return parse_uint(name.substr(kPrefix.size()));
}

}  // namespace

std::string SnapshotFiles::path(std::uint64_t position) const {
  return folder_ + "/" + std::string(kPrefix) + std::to_string(position);
}

Result<SnapshotFiles> SnapshotFiles::open(const std::string& folder, const std::string& cluster) {
  SnapshotFiles files(folder, cluster);
  std::vector<std::uint64_t> positions;
  for (const std::string& name : TRY(list_folder(folder))) {
    if (const auto position = position_of(name)) positions.push_back(*position);
    // Left by a crash while it was written.
    if (name.starts_with(kPrefix) && name.ends_with(".tmp")) TRY(remove_file(folder + "/" + name));
  }
  std::sort(positions.begin(), positions.end());
  for (const std::uint64_t position : positions) {
    const std::string path = files.path(position);
    auto bytes = read_file(path);
    if (!bytes) {
      files.damaged_.push_back(bytes.error().message);
      continue;
    }
    const auto whole = parse(path, std::move(*bytes), cluster);
    if (whole && whole->file.position == position) {
      files.whole_.push_back(whole->file);
    } else {
      files.damaged_.push_back(whole ? path + ": it holds another position" : whole.error().message);
    }
  }
  return files;
}

Status SnapshotFiles::write(const File& file, std::string_view bytes) {
  const std::string header = header_of(file, bytes, cluster_);
  const std::string crcs = chunk_crcs(bytes);
  const std::array<std::string_view, 3> parts = {header, bytes, crcs};
  TRY(write_file_durably(path(file.position), parts));
  whole_.push_back(file);
  if (whole_.size() < 2) return Done{};
  for (const std::string& name : TRY(list_folder(folder_))) {
    const auto position = position_of(name);
    if (position && *position < covered()) TRY(remove_file(folder_ + "/" + name));
  }
  whole_.erase(whole_.begin(), whole_.end() - 2);
  return Done{};
}

Result<std::string> SnapshotFiles::read(const File& file) const {
  const std::string name = path(file.position);
  std::string bytes = TRY(read_file(name));
  return TRY(parse(name, std::move(bytes), cluster_)).body;
}

}  // namespace drover::store
