// CHECK: for what cannot go wrong in a correct program. On in every build; prints and aborts.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace drover {

[[noreturn]] inline void check_failed(const char* what, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: CHECK failed: %s\n", file, line, what);
  std::abort();
}

}  // namespace drover

#define CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::drover::check_failed(#condition, __FILE__, __LINE__))
