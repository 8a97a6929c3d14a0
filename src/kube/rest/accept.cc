#include "kube/rest/accept.h"

#include <optional>

#include "base/text.h"

namespace drover::kube {
namespace {

struct MediaType {
  std::string_view type;
  std::string_view as;
  std::string_view group;
  std::string_view version;
};

MediaType parse(std::string_view one) {
  MediaType media;
  bool first = true;
  for (const std::string_view part : split(one, ';')) {
    const std::string_view text = trim(part);
    if (first) media.type = text;
    first = false;
    const auto eq = text.find('=');
    if (eq == std::string_view::npos) continue;
    const std::string_view name = text.substr(0, eq);
    if (name == "as") media.as = text.substr(eq + 1);
    if (name == "g") media.group = text.substr(eq + 1);
    if (name == "v") media.version = text.substr(eq + 1);
  }
  return media;
}

bool is_json(std::string_view type) { return type == "application/json" || type == "*/*" || type == "application/*"; }

std::optional<Form> form(const MediaType& media) {
  // Whoever takes protobuf can be given JSON (measured with every kubectl and client-go).
  if (!is_json(media.type) && media.type != "application/vnd.kubernetes.protobuf") return std::nullopt;
  if (media.as.empty()) return Form::object;
  if (media.type != "application/json") return std::nullopt;
  if (media.as == "Table") return Form::table;
  if (media.as.starts_with("PartialObjectMetadata")) return Form::metadata;
  return std::nullopt;
}

}  // namespace

Outcome<Form> form_of(std::string_view accept) {
  if (trim(accept).empty()) return Form::object;
  for (const std::string_view one : split(accept, ',')) {
    if (const auto found = form(parse(one))) return *found;
  }
  return not_acceptable();
}

Discovery discovery_of(std::string_view accept) {
  for (const std::string_view one : split(accept, ',')) {
    const MediaType media = parse(one);
    if (!is_json(media.type)) continue;
    if (media.as.empty()) return Discovery::plain;
    if (media.as != "APIGroupDiscoveryList" || media.group != "apidiscovery.k8s.io") continue;
    if (media.version == "v2") return Discovery::v2;
    if (media.version == "v2beta1") return Discovery::v2beta1;
  }
  return Discovery::plain;
}

}  // namespace drover::kube
