#include "kube/object/pod/launch/field_ref.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "kube/json/print.h"
#include "kube/object/pod/parts.h"

namespace drover::kube {
namespace {

constexpr std::array<std::string_view, 9> kPlain{"metadata.name",
                                                 "metadata.namespace",
                                                 "metadata.uid",
                                                 "spec.nodeName",
                                                 "spec.serviceAccountName",
                                                 "status.hostIP",
                                                 "status.hostIPs",
                                                 "status.podIP",
                                                 "status.podIPs"};

// The k of metadata.labels['k'], nothing for another path.
std::optional<std::string_view> subscript(std::string_view path, std::string_view map) {
  if (!path.starts_with(map)) return std::nullopt;
  path.remove_prefix(map.size());
  if (!path.starts_with("['") || !path.ends_with("']") || path.size() < 5) return std::nullopt;
  return path.substr(2, path.size() - 4);
}

// key="value" lines, sorted, as a file of a volume has them.
std::string map_text(const Object* map) {
  if (map == nullptr) return {};
  std::vector<std::string> lines;
  for (const auto& entry : *map) {
    std::string line(std::string_view(entry.key()));
    line += '=';
    print_string(line, text(&entry.value()));
    lines.push_back(std::move(line));
  }
  std::ranges::sort(lines);
  return join(lines, "\n");
}

std::int64_t of_node(std::string_view resource, const LaunchLookups& lookups) {
  if (resource == "cpu") return lookups.node_cpu_milli;
  return resource == "memory" ? lookups.node_memory : lookups.node_disk;
}

}  // namespace

bool is_field(std::string_view path, bool of_volume) {
  if (subscript(path, "metadata.labels") || subscript(path, "metadata.annotations")) return true;
  const bool map = path == "metadata.labels" || path == "metadata.annotations";
  if (map) return of_volume;
  const bool plain = std::ranges::find(kPlain, path) != kPlain.end();
  return plain && (!of_volume || path.starts_with("metadata."));
}

std::optional<std::string> field_text(const Value& pod, std::string_view path,
                                      const LaunchLookups& lookups) {
  if (const auto key = subscript(path, "metadata.labels")) return std::string(label_of(pod, *key));
  if (const auto key = subscript(path, "metadata.annotations")) {
    return std::string(annotation_of(pod, *key));
  }
  if (path == "metadata.labels" || path == "metadata.annotations") {
    return map_text(object_at(pod, path));
  }
  if (path == "spec.nodeName") return lookups.node_name;
  if (path == "status.hostIP" || path == "status.hostIPs") return lookups.host_ip;
  if (path == "status.podIP" || path == "status.podIPs") {
    return lookups.pod_ip.empty() ? lookups.host_ip : lookups.pod_ip;
  }
  if (std::ranges::find(kPlain, path) == kPlain.end()) return std::nullopt;
  return std::string(text_at(pod, path));
}

bool is_resource_field(std::string_view resource) {
  for (const std::string_view part : {"limits.", "requests."}) {
    if (!resource.starts_with(part)) continue;
    const std::string_view name = resource.substr(part.size());
    return name == "cpu" || name == "memory" || name == "ephemeral-storage";
  }
  return false;
}

std::string resource_text(const Value& container, const Value& ref, const LaunchLookups& lookups) {
  const std::string_view path = text_at(ref, "resource");
  const auto dot = path.find('.');
  if (dot == std::string_view::npos) return {};
  const std::string_view resource = path.substr(dot + 1);
  const bool cpu = resource == "cpu";
  const Quantity said = amount_of(container, path.substr(0, dot), resource);
  std::int64_t amount = cpu ? said.milli() : said.units();
  if (amount == 0 && path.starts_with("limits.")) amount = of_node(resource, lookups);
  std::int64_t divisor = cpu ? 1000 : 1;
  if (const Value* given = member(ref, "divisor")) {
    const auto read = Quantity::from(*given);
    const std::int64_t unit = !read ? 0 : cpu ? read->milli() : read->units();
    if (unit > 0) divisor = unit;
  }
  return std::to_string(amount / divisor + (amount % divisor > 0 ? 1 : 0));
}

}  // namespace drover::kube
