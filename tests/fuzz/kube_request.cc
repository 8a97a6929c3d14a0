// Paths, queries and Accept headers of requests: whatever they say, what comes of them is within
// what is served.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "kube/rest/accept.h"
#include "kube/rest/filter.h"
#include "kube/rest/route.h"
#include "kube/stream/query.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace drover::kube;
  const std::string_view text(reinterpret_cast<const char*>(data),
                              size);  // NOLINT: libFuzzer's type
  (void)form_of(text);
  (void)discovery_of(text);
  const auto target = drover::wire::parse_target(text);
  if (!target) return 0;
  (void)parse_log_query(*target);
  (void)parse_command_query(*target, true);
  (void)query_number(*target, "limit");
  const auto route = route_of(*target);
  if (!route) return 0;
  CHECK(route->resource != nullptr);
  CHECK(!route->space || (route->resource->namespaced && !route->space->empty()));
  CHECK(route->subresource.empty() || !route->name.empty());
  if (const auto filter = filter_of(*route, *target)) {
    const EntryPtr entry = make_entry(
        {.space = "a", .name = "b"}, 7, 7,
        Object{{"metadata", Object{{"name", "b"}, {"labels", Object{{"a", "b"}, {"c", "x\"y"}}}}},
               {"spec", Object{{"nodeName", "n1"}}}});
    const bool wanted = filter->wants(*entry);
    CHECK(wanted || !filter->everything());
  }
  return 0;
}
