// The number of the stored format, and the bytes of its small fixed files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/result.h"
#include "base/text.h"

namespace drover::store {

// 0 until the first tagged release: a store of format 0 promises nothing to the next version.
inline constexpr std::uint32_t kFormat = 0;

[[nodiscard]] inline Error other_format(const std::string& path, std::string_view found) {
  return {Errc::conflict, path + ": it is of format " + printable(found) + ", this drover reads format " +
                              std::to_string(kFormat) + " only"};
}

// Little-endian numbers and bytes of fixed length.
class FixedWriter {
 public:
  FixedWriter& number(std::uint64_t value) {
    for (int i = 0; i < 8; ++i) bytes_ += static_cast<char>((value >> (8 * i)) & 0xff);
    return *this;
  }
  FixedWriter& bytes(std::string_view value) {
    bytes_ += value;
    return *this;
  }
  [[nodiscard]] const std::string& str() const { return bytes_; }

 private:
  std::string bytes_;
};

class FixedReader {
 public:
  explicit FixedReader(std::string_view bytes) : bytes_(bytes) {}
  std::uint64_t number() {
    const std::string_view digits = bytes(8);
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < 8; ++i) value |= std::uint64_t{static_cast<unsigned char>(digits[i])} << (8 * i);
    return value;
  }
  std::string_view bytes(std::size_t size) {
    CHECK(bytes_.size() >= size);
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }

 private:
  std::string_view bytes_;
};

}  // namespace drover::store
