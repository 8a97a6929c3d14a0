#include "kube/spdy/headers.h"

#include <zlib.h>

#include <algorithm>
#include <array>

#include "base/check.h"
#include "kube/spdy/bytes.h"
#include "kube/spdy/dictionary.h"

namespace drover::kube {
namespace {

// zlib takes its input by a pointer to what isn't const, and leaves it alone.
Bytef* bytes_of(std::string_view text) {
  return reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));  // NOLINT: zlib's types
}

Result<std::string_view> take_text(std::string_view& block) {
  if (block.size() < 4) return Error{Errc::invalid, "a header block is cut off"};
  const std::uint32_t size = get_32(block, 0);
  block.remove_prefix(4);
  if (size > block.size()) return Error{Errc::invalid, "a header block is cut off"};
  const std::string_view text = block.substr(0, size);
  block.remove_prefix(size);
  return text;
}

Result<SpdyHeaders> parse(std::string_view block) {
  if (block.size() < 4) return Error{Errc::invalid, "a header block is cut off"};
  const std::uint32_t count = get_32(block, 0);
  block.remove_prefix(4);
  if (count > kMostHeaders) return Error{Errc::exhausted, "too many headers"};
  SpdyHeaders headers;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::string_view name = TRY(take_text(block));
    const std::string_view value = TRY(take_text(block));
    headers.emplace_back(name, value);
  }
  if (!block.empty()) return Error{Errc::invalid, "there are bytes behind a header block"};
  return headers;
}

}  // namespace

std::string_view find(const SpdyHeaders& headers, std::string_view name) {
  const auto it = std::ranges::find(headers, name, &SpdyHeaders::value_type::first);
  return it == headers.end() ? std::string_view() : std::string_view(it->second);
}

struct HeaderUnpacker::State {
  z_stream stream{};
};

HeaderUnpacker::HeaderUnpacker() : state_(std::make_unique<State>()) {
  CHECK(inflateInit(&state_->stream) == Z_OK);
}
HeaderUnpacker::~HeaderUnpacker() { inflateEnd(&state_->stream); }

Result<SpdyHeaders> HeaderUnpacker::unpack(std::string_view block) {
  z_stream& z = state_->stream;
  z.next_in = bytes_of(block);
  z.avail_in = static_cast<uInt>(block.size());
  std::string unpacked;
  std::array<char, 4096> piece{};
  for (;;) {
    z.next_out = bytes_of({piece.data(), piece.size()});
    z.avail_out = piece.size();
    int code = inflate(&z, Z_SYNC_FLUSH);
    if (code == Z_NEED_DICT) {
      const std::string& dictionary = spdy_dictionary();
      code = inflateSetDictionary(&z, bytes_of(dictionary), static_cast<uInt>(dictionary.size()));
      if (code == Z_OK) continue;
    }
    unpacked.append(piece.data(), piece.size() - z.avail_out);
    if (unpacked.size() > kLargestHeaders)
      return Error{Errc::exhausted, "a header block is too large"};
    if (code == Z_BUF_ERROR || (code == Z_OK && z.avail_in == 0 && z.avail_out > 0)) break;
    if (code != Z_OK) return Error{Errc::invalid, "a header block isn't packed as SPDY/3 has it"};
  }
  if (z.avail_in != 0) return Error{Errc::invalid, "a header block isn't packed as SPDY/3 has it"};
  return parse(unpacked);
}

struct HeaderPacker::State {
  z_stream stream{};
};

HeaderPacker::HeaderPacker() : state_(std::make_unique<State>()) {
  // Answers have next to no headers: the least memory will do.
  CHECK(deflateInit2(&state_->stream, Z_BEST_SPEED, Z_DEFLATED, 9, 1, Z_DEFAULT_STRATEGY) == Z_OK);
  const std::string& dictionary = spdy_dictionary();
  CHECK(deflateSetDictionary(&state_->stream, bytes_of(dictionary),
                             static_cast<uInt>(dictionary.size())) == Z_OK);
}
HeaderPacker::~HeaderPacker() { deflateEnd(&state_->stream); }

std::string HeaderPacker::pack(const SpdyHeaders& headers) {
  std::string block;
  put_32(block, static_cast<std::uint32_t>(headers.size()));
  for (const auto& [name, value] : headers) {
    put_32(block, static_cast<std::uint32_t>(name.size()));
    block += name;
    put_32(block, static_cast<std::uint32_t>(value.size()));
    block += value;
  }
  z_stream& z = state_->stream;
  z.next_in = bytes_of(block);
  z.avail_in = static_cast<uInt>(block.size());
  std::string packed;
  std::array<char, 1024> piece{};
  do {
    z.next_out = bytes_of({piece.data(), piece.size()});
    z.avail_out = piece.size();
    const int code = deflate(&z, Z_SYNC_FLUSH);
    CHECK(code == Z_OK || code == Z_BUF_ERROR);
    packed.append(piece.data(), piece.size() - z.avail_out);
  } while (z.avail_out == 0);
  return packed;
}

}  // namespace drover::kube
