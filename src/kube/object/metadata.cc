#include "kube/object/metadata.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "kube/json/print.h"

namespace drover::kube {
namespace {

constexpr std::array<std::string_view, 3> kPlainFinalizers{"orphan", "foregroundDeletion",
                                                           "kubernetes"};

// A generated name ends in five letters, so its prefix may end in a dash.
std::string completed(std::string_view prefix) {
  std::string name(prefix);
  if (name.size() > 1 && name.ends_with('-')) name.back() = 'a';
  return name;
}

void check_name(Problems& problems, const Value& object, NameRule rule) {
  const Path path = Path("metadata");
  const std::string_view prefix = text_at(object, "metadata.generateName");
  const std::string_view name = text_at(object, "metadata.name");
  if (!prefix.empty()) {
    problems.invalid(path / "generateName", prefix, name_complaints(rule, completed(prefix)));
  }
  if (name.empty()) {
    if (prefix.empty()) problems.required(path / "name", "name or generateName is required");
    return;
  }
  problems.invalid(path / "name", name, name_complaints(rule, name));
}

void check_owners(Problems& problems, const Value& object) {
  const Array* owners = array_at(object, "metadata.ownerReferences");
  if (owners == nullptr) return;
  const Path path = Path("metadata") / "ownerReferences";
  std::string controller;
  for (std::size_t i = 0; i < owners->size(); ++i) {
    const Value& owner = (*owners)[i];
    for (const char* field : {"apiVersion", "kind", "name", "uid"}) {
      const bool empty = text_at(owner, field).empty();
      if (empty) problems.invalid(path[i] / field, "", "must not be empty");
    }
    if (!flag_at(owner, "controller")) continue;
    std::string who(text_at(owner, "kind"));
    who.append("/").append(text_at(owner, "name"));
    if (controller.empty()) {
      controller = who;
      continue;
    }
    problems.invalid(path, Value(*owners),
                     "Only one reference can have Controller set to true. Found \"true\" in "
                     "references for " +
                         controller + " and " + who);
  }
}

void check_finalizers(Problems& problems, const Value& object) {
  const Array* finalizers = array_at(object, "metadata.finalizers");
  if (finalizers == nullptr) return;
  const Path path = Path("metadata") / "finalizers";
  for (const Value& value : *finalizers) {
    const std::string_view name = text(&value);
    const Complaints complaints = qualified_name(name);
    problems.invalid(path, name, complaints);
    const bool plain = std::ranges::find(kPlainFinalizers, name) != kPlainFinalizers.end();
    if (complaints.empty() && name.find('/') == std::string_view::npos && !plain) {
      problems.invalid(path, name,
                       "name is neither a standard finalizer name nor is it fully qualified");
    }
  }
}

void check_new_finalizers(Problems& problems, const Value& was, const Value& now) {
  if (text_at(was, "metadata.deletionTimestamp").empty()) return;
  const Array* old = array_at(was, "metadata.finalizers");
  const Array* finalizers = array_at(now, "metadata.finalizers");
  if (finalizers == nullptr) return;
  std::vector<std::string> added;
  for (const Value& value : *finalizers) {
    const bool known = old != nullptr && std::ranges::any_of(*old, [&value](const Value& other) {
                         return same(value, other);
                       });
    if (!known) added.push_back(print(value));
  }
  if (added.empty()) return;
  problems.forbidden(Path("metadata") / "finalizers",
                     "no new finalizers can be added if the object is being deleted, found new "
                     "finalizers []string{" +
                         join(added, ", ") + "}");
}

}  // namespace

Complaints name_complaints(NameRule rule, std::string_view name) {
  switch (rule) {
    case NameRule::dns_subdomain:
      return dns1123_subdomain(name);
    case NameRule::dns_label:
      return dns1123_label(name);
    case NameRule::path_segment:
      return path_segment(name);
  }
  return {};
}

Problems check_labels(const Object* labels, const Path& path) {
  Problems problems;
  if (labels == nullptr) return problems;
  for (const auto& entry : *labels) {
    problems.invalid(path, std::string_view(entry.key()), qualified_name(entry.key()));
    problems.invalid(path, text(&entry.value()), label_value(text(&entry.value())));
  }
  return problems;
}

Problems check_annotations(const Object* annotations, const Path& path) {
  Problems problems;
  if (annotations == nullptr) return problems;
  std::size_t bytes = 0;
  for (const auto& entry : *annotations) {
    const std::string_view key = entry.key();
    problems.invalid(path, key, qualified_name(lower(key)));
    bytes += key.size() + text(&entry.value()).size();
  }
  if (bytes > kMaxAnnotations) problems.too_long(path, kMaxAnnotations);
  return problems;
}

Problems check_metadata(const Value& object, NameRule name) {
  Problems problems;
  const Path path("metadata");
  check_name(problems, object, name);
  problems.add(check_labels(object_at(object, "metadata.labels"), path / "labels"));
  problems.add(check_annotations(object_at(object, "metadata.annotations"), path / "annotations"));
  check_owners(problems, object);
  check_finalizers(problems, object);
  return problems;
}

Problems check_metadata_update(const Value& was, const Value& now, NameRule name) {
  Problems problems = check_metadata(now, name);
  for (const char* field : {"name", "namespace", "uid", "creationTimestamp"}) {
    const std::string place = std::string("metadata.") + field;
    const std::string_view value = text_at(now, place);
    if (!value.empty() && value != text_at(was, place)) {
      problems.invalid(Path("metadata") / field, value, "field is immutable");
    }
  }
  check_new_finalizers(problems, was, now);
  return problems;
}

}  // namespace drover::kube
