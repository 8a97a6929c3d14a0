// Chance from the kernel: for names that nobody may guess or repeat. Decisions use base/random.h.
#pragma once

#include <sys/random.h>

#include <string>

#include "base/check.h"

namespace drover {

[[nodiscard]] inline std::string random_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  CHECK(count <= 256);  // up to here getrandom never gives less
  CHECK(::getrandom(bytes.data(), count, 0) == static_cast<ssize_t>(count));
  return bytes;
}

}  // namespace drover
