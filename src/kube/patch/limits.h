// Bounds of one patch, and what the errors of all patches mean.
//   Errc::invalid    not a patch at all: 400
//   Errc::conflict   a patch that doesn't fit this object (no such path, a test that fails): 422
//   Errc::exhausted  too many operations, or a result too large or deep: 413
#pragma once

#include <cstddef>

namespace drover::kube {

struct PatchLimits {
  std::size_t operations = 10'000;
  std::size_t bytes = 6U << 20U;  // of values added on the way, so also of the result
  std::size_t depth = 128;
};

}  // namespace drover::kube
