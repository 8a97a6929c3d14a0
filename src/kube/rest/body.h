// The body of a request as an object of its kind.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/rest/failure.h"
#include "kube/rest/resource.h"
#include "kube/schema/schema.h"
#include "wire/http.h"
#include "wire/target.h"

namespace drover::kube {

struct Body {
  Value value;
  std::vector<std::string> warnings;  // values of Warning headers
};

// What the request sends, as `kind` of `api_version` (which it must say, unless `kind` may be left out:
// options of a deletion). Checked against the schema; unknown and repeated fields as ?fieldValidation says.
[[nodiscard]] Outcome<Body> read_body(const wire::Request& request, const wire::Target& target,
                                      std::string_view api_version, std::string_view kind);

// The same checks of an object that came about otherwise (by a patch).
[[nodiscard]] Outcome<Body> conformed(Value value, const wire::Target& target, std::string_view api_version,
                                      std::string_view kind, std::vector<std::string> duplicates);

// "v1", "apps/v1".
[[nodiscard]] std::string api_version_of(const Resource& resource);

inline constexpr std::size_t kMostBytes = 3U << 20U;  // of a body, as an API server takes

}  // namespace drover::kube
