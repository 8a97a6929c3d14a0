// What every object's metadata must satisfy, and what of it may never change.
#pragma once

#include <cstdint>
#include <string_view>

#include "kube/object/problems.h"

namespace drover::kube {

enum class NameRule : std::uint8_t { dns_subdomain, dns_label, path_segment };

// Name (or generateName), labels, annotations, owners and finalizers of a new object. `generation`,
// namespace and the fields that only the server writes are the caller's.
[[nodiscard]] Problems check_metadata(const Value& object, NameRule name);

// Of a change: name, namespace, uid and creationTimestamp stay (where the new object says them at
// all), and an object that is being deleted takes no new finalizers. Includes check_metadata.
[[nodiscard]] Problems check_metadata_update(const Value& was, const Value& now, NameRule name);

// {name: text} of labels, annotations or any map of texts at `path`.
[[nodiscard]] Problems check_labels(const Object* labels, const Path& path);
[[nodiscard]] Problems check_annotations(const Object* annotations, const Path& path);

[[nodiscard]] Complaints name_complaints(NameRule rule, std::string_view name);

}  // namespace drover::kube
