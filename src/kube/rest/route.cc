#include "kube/rest/route.h"

#include "base/text.h"

namespace drover::kube {

std::optional<Route> route_of(const wire::Target& target) {
  std::vector<std::string> path = target.path;
  if (!path.empty() && path.back().empty()) path.pop_back();
  std::size_t next = 0;
  std::string_view group;
  if (path.size() >= 3 && path[0] == "api") {
    next = 2;
  } else if (path.size() >= 4 && path[0] == "apis") {
    group = path[1];
    next = 3;
  } else {
    return std::nullopt;
  }
  const std::string_view version = path[next - 1];
  Route route;
  // A namespace is also an object of its own: /namespaces/NAME, /namespaces/NAME/status.
  const bool inside = path[next] == "namespaces" && path.size() > next + 2 &&
                      !(group.empty() && (path[next + 2] == "status" || path[next + 2] == "finalize"));
  if (inside) {
    route.space = path[next + 1];
    next += 2;
  }
  route.resource = find_resource(group, version, path[next]);
  if (route.resource == nullptr || (route.space && !route.resource->namespaced)) return std::nullopt;
  if (path.size() > next + 1) route.name = path[next + 1];
  if (path.size() > next + 2) route.subresource = path[next + 2];
  for (std::size_t i = next + 3; i < path.size(); ++i) route.rest += "/" + path[i];
  // The name of a namespaced object without its namespace says nothing.
  if (route.resource->namespaced && !route.space && !route.name.empty()) return std::nullopt;
  return route;
}

std::string_view query(const wire::Target& target, std::string_view name) {
  for (const auto& [key, value] : target.query) {
    if (key == name) return value;
  }
  return {};
}

bool query_flag(const wire::Target& target, std::string_view name) {
  const std::string_view value = query(target, name);
  for (const std::string_view yes : {"true", "True", "TRUE", "t", "T", "1"}) {  // as Go reads them
    if (value == yes) return true;
  }
  return false;
}

std::optional<std::int64_t> query_number(const wire::Target& target, std::string_view name) {
  const auto number = parse_int(query(target, name));
  return number ? std::optional(*number) : std::nullopt;
}

}  // namespace drover::kube
