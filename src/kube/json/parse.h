// Strict JSON texts: no comments, no trailing bytes, valid UTF-8, bounded in size and depth. Whole
// numbers stay int64 (or uint64 above it), others become the nearest double.
#pragma once

#include <boost/json/storage_ptr.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kube/json/value.h"

namespace drover::kube {

struct ParseLimits {
  std::size_t bytes = 3U << 20U;  // what an API server takes in one body
  std::size_t depth = 128;        // all recursion over a value stays within this
};

// The value, with the paths of members that stood there more than once
// ("spec.containers[0].image"), at most 64 of them; of such members the last one counts.
struct Parsed {
  Value value;
  std::vector<std::string> duplicates;
};

// Errc::exhausted for a text that is too large, else Errc::invalid: "unexpected end of JSON input",
// "invalid character '}' at byte 12". The value's memory comes from `storage`, which must then
// outlive it.
[[nodiscard]] Result<Parsed> parse_noting_duplicates(std::string_view json, ParseLimits limits = {},
                                                     boost::json::storage_ptr storage = {});

// The same, where a member that stands there twice is an error: `duplicate field "metadata.name"`.
[[nodiscard]] Result<Value> parse(std::string_view json, ParseLimits limits = {},
                                  boost::json::storage_ptr storage = {});

}  // namespace drover::kube
