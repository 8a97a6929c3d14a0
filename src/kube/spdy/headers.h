// Header blocks of SPDY/3: pairs of texts, compressed in one zlib stream for each direction of a
// connection. Bounded: a block that unpacks to too much is an error, not memory.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace drover::kube {

using SpdyHeaders = std::vector<std::pair<std::string, std::string>>;  // names in lower case
[[nodiscard]] std::string_view find(const SpdyHeaders& headers, std::string_view name);  // "": none

inline constexpr std::size_t kLargestHeaders = 32U << 10U;  // unpacked
inline constexpr std::size_t kMostHeaders = 64;

class HeaderUnpacker {
 public:
  HeaderUnpacker();
  ~HeaderUnpacker();
  HeaderUnpacker(const HeaderUnpacker&) = delete;
  HeaderUnpacker& operator=(const HeaderUnpacker&) = delete;
  // One whole block. After an error the connection's other blocks can't be read either.
  [[nodiscard]] Result<SpdyHeaders> unpack(std::string_view block);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

class HeaderPacker {
 public:
  HeaderPacker();
  ~HeaderPacker();
  HeaderPacker(const HeaderPacker&) = delete;
  HeaderPacker& operator=(const HeaderPacker&) = delete;
  [[nodiscard]] std::string pack(const SpdyHeaders& headers);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace drover::kube
