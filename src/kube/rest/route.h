// The path of a request: what it is about.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kube/rest/resource.h"
#include "wire/target.h"

namespace drover::kube {

// /api/v1/namespaces/NS/RESOURCE/NAME/SUB and /apis/GROUP/VERSION/...
struct Route {
  const Resource* resource = nullptr;
  std::optional<std::string> space;  // of a namespaced resource; none: all namespaces
  std::string name;                  // "": the collection
  std::string subresource;           // "": the object itself
  std::string rest;                  // behind the subresource (proxy paths)
};

// Nothing when there is no such resource.
[[nodiscard]] std::optional<Route> route_of(const wire::Target& target);

// The value of a query parameter; "" when it isn't there. Of several the first counts.
[[nodiscard]] std::string_view query(const wire::Target& target, std::string_view name);
[[nodiscard]] bool query_flag(const wire::Target& target, std::string_view name);  // "true", "True", "1" ...
// The whole number there; nothing for none or nonsense.
[[nodiscard]] std::optional<std::int64_t> query_number(const wire::Target& target, std::string_view name);

}  // namespace drover::kube
