#include "kube/spdy/frame.h"

#include <algorithm>
#include <optional>

#include "kube/spdy/bytes.h"

namespace drover::kube {
namespace {

constexpr std::size_t kHeader = 8;
constexpr std::uint32_t kControl = 0x80000000U;
constexpr std::uint32_t kIdMask = 0x7fffffffU;
constexpr std::uint32_t kSizeMask = 0x00ffffffU;
constexpr std::uint32_t kVersion = 3;
constexpr std::uint32_t kFin = 1;

enum class Kind : std::uint32_t {
  opened = 1,
  reply = 2,
  reset = 3,
  settings = 4,
  ping = 6,
  away = 7,
  headers = 8,
  window = 9
};

std::string control_frame(Kind kind, std::uint32_t flags, std::string_view body) {
  std::string frame;
  put_32(frame, kControl | (kVersion << 16U) | static_cast<std::uint32_t>(kind));
  put_32(frame, (flags << 24U) | static_cast<std::uint32_t>(body.size()));
  frame += body;
  return frame;
}

// How long the body of such a frame is at least; nothing for kinds that are read over.
std::optional<std::size_t> shortest(Kind kind) {
  switch (kind) {
    case Kind::opened:
      return 10;
    case Kind::reply:
    case Kind::headers:
    case Kind::ping:
      return 4;
    case Kind::reset:
    case Kind::away:
      return 8;
    case Kind::settings:
    case Kind::window:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

Status SpdyReader::feed(std::string_view bytes, const std::function<void(const SpdyEvent&)>& take) {
  while (!bytes.empty()) {
    if (data_left_ > 0) {
      const std::string_view piece = bytes.substr(0, data_left_);
      bytes.remove_prefix(piece.size());
      data_left_ -= piece.size();
      take(SpdyData{.id = data_id_, .fin = data_fin_ && data_left_ == 0, .bytes = piece});
      continue;
    }
    const auto fill = [&](std::size_t size) {
      const std::string_view more = bytes.substr(0, size - std::min(size, partial_.size()));
      partial_ += more;
      bytes.remove_prefix(more.size());
      return partial_.size() >= size;
    };
    if (!fill(kHeader)) return Done{};
    const std::uint32_t first = get_32(partial_, 0);
    const std::uint32_t second = get_32(partial_, 4);
    const std::size_t size = second & kSizeMask;
    if ((first & kControl) == 0) {
      partial_.clear();
      data_id_ = first;
      data_left_ = size;
      data_fin_ = ((second >> 24U) & kFin) != 0;
      if (size == 0) take(SpdyData{.id = data_id_, .fin = data_fin_, .bytes = {}});
      continue;
    }
    if (((first & ~kControl) >> 16U) != kVersion) return Error{Errc::invalid, "this isn't SPDY/3"};
    if (size > kLargestControl) return Error{Errc::exhausted, "a control frame is too large"};
    if (!fill(kHeader + size)) return Done{};
    const Status taken = control(partial_, take);
    partial_.clear();
    if (!taken) return taken.error();
  }
  return Done{};
}

Status SpdyReader::control(std::string_view frame,
                           const std::function<void(const SpdyEvent&)>& take) {
  const auto kind = static_cast<Kind>(get_32(frame, 0) & 0xffffU);
  const bool fin = ((get_32(frame, 4) >> 24U) & kFin) != 0;
  const std::string_view body = frame.substr(kHeader);
  const auto least = shortest(kind);
  if (!least) return Done{};
  if (body.size() < *least) return Error{Errc::invalid, "a control frame is cut off"};
  const std::uint32_t id = get_32(body, 0) & kIdMask;
  switch (kind) {
    case Kind::opened:
      take(SpdyOpened{.id = id, .fin = fin, .headers = TRY(unpacker_.unpack(body.substr(10)))});
      break;
    case Kind::reply:
    case Kind::headers:
      TRY(unpacker_.unpack(body.substr(4)));  // the next block builds on it
      if (fin) take(SpdyFin{id});
      break;
    case Kind::reset:
      take(SpdyReset{id});
      break;
    case Kind::ping:
      take(SpdyPing{get_32(body, 0)});
      break;
    case Kind::away:
      take(SpdyAway{});
      break;
    case Kind::settings:
    case Kind::window:
      break;
  }
  return Done{};
}

std::string spdy_reply(std::uint32_t id, std::string_view packed_headers) {
  std::string body;
  put_32(body, id);
  body += packed_headers;
  return control_frame(Kind::reply, 0, body);
}

std::string spdy_data(std::uint32_t id, std::string_view bytes, bool fin) {
  std::string frame;
  frame.reserve(kHeader + bytes.size());
  put_32(frame, id);
  put_32(frame, (fin ? kFin << 24U : 0U) | static_cast<std::uint32_t>(bytes.size()));
  frame += bytes;
  return frame;
}

std::string spdy_reset(std::uint32_t id, SpdyCode code) {
  std::string body;
  put_32(body, id);
  put_32(body, static_cast<std::uint32_t>(code));
  return control_frame(Kind::reset, 0, body);
}

std::string spdy_ping(std::uint32_t id) {
  std::string body;
  put_32(body, id);
  return control_frame(Kind::ping, 0, body);
}

std::string spdy_away(std::uint32_t last_id, std::uint32_t status) {
  std::string body;
  put_32(body, last_id);
  put_32(body, status);
  return control_frame(Kind::away, 0, body);
}

}  // namespace drover::kube
