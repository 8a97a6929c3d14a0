// Volumes and where containers mount them.
#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"
#include "kube/object/pod/check/checks.h"
#include "kube/object/pod/launch/field_ref.h"
#include "kube/select/names.h"

namespace drover::kube {
namespace {

// Below the volume, and nowhere else.
void check_inner_path(Problems& problems, std::string_view path, const Path& field) {
  if (path.empty()) return problems.required(field);
  if (path.starts_with('/')) problems.invalid(field, path, "must be a relative path");
  for (const std::string_view part : split(path, '/')) {
    if (part == "..") return problems.invalid(field, path, "must not contain '..'");
  }
}

void check_mode(Problems& problems, const Value& holder, const char* name, const Path& path) {
  const Value* mode = member(holder, name);
  const auto number = integer(mode);
  if (!number || (*number >= 0 && *number <= 0777)) return;
  problems.invalid(path / name, *mode,
                   "must be a number between 0 and 0777 (octal), both inclusive");
}

void check_items(Problems& problems, const Value& source, const Path& path) {
  const Array* items = array_at(source, "items");
  if (items == nullptr) return;
  for (std::size_t i = 0; i < items->size(); ++i) {
    const Value& item = (*items)[i];
    const Path field = (path / "items")[i];
    if (text_at(item, "key").empty()) problems.required(field / "key");
    check_inner_path(problems, text_at(item, "path"), field / "path");
    check_mode(problems, item, "mode", field);
  }
}

void check_downward(Problems& problems, const Value& source, const Path& path) {
  const Array* items = array_at(source, "items");
  if (items == nullptr) return;
  for (std::size_t i = 0; i < items->size(); ++i) {
    const Value& item = (*items)[i];
    const Path field = (path / "items")[i];
    check_inner_path(problems, text_at(item, "path"), field / "path");
    check_mode(problems, item, "mode", field);
    const Value* ref = member(item, "fieldRef");
    const Value* amount = member(item, "resourceFieldRef");
    if (ref != nullptr && !is_field(text_at(*ref, "fieldPath"), true)) {
      problems.not_supported(field / "fieldRef" / "fieldPath", text_at(*ref, "fieldPath"),
                             {"metadata.annotations", "metadata.labels", "metadata.name",
                              "metadata.namespace", "metadata.uid"});
    } else if (ref == nullptr && amount == nullptr) {
      problems.required(field / "fieldRef", "one of fieldRef and resourceFieldRef is required");
    }
    if (amount == nullptr) continue;
    if (text_at(*amount, "containerName").empty()) {
      problems.required(field / "resourceFieldRef" / "containerName");
    }
    if (!is_resource_field(text_at(*amount, "resource"))) {
      problems.invalid(field / "resourceFieldRef" / "resource", text_at(*amount, "resource"),
                       "must be limits or requests of cpu, memory or ephemeral-storage");
    }
  }
}

void check_projected(Problems& problems, const Value& source, const Path& path) {
  const Array* sources = array_at(source, "sources");
  if (sources == nullptr || sources->empty()) return problems.required(path / "sources");
  for (std::size_t i = 0; i < sources->size(); ++i) {
    const Object* one = (*sources)[i].if_object();
    if (one == nullptr) continue;
    for (const auto& entry : *one) {
      const std::string_view kind = entry.key();
      const Path field = (path / "sources")[i] / kind;
      if (kind == "configMap" || kind == "secret") {
        if (text_at(entry.value(), "name").empty()) problems.required(field / "name");
        check_items(problems, entry.value(), field);
      } else if (kind == "downwardAPI") {
        check_downward(problems, entry.value(), field);
      } else if (kind == "serviceAccountToken") {
        check_inner_path(problems, text_at(entry.value(), "path"), field / "path");
        check_least(problems, entry.value(), "expirationSeconds", field, 600);
      } else {
        problems.forbidden(field, "drover does not serve it");
      }
    }
  }
}

void check_host_path(Problems& problems, const Value& source, const Path& path,
                     const PodRules& rules) {
  if (!rules.privileged) problems.forbidden(path, "only administrators may mount host paths");
  const std::string_view place = text_at(source, "path");
  if (place.empty()) return problems.required(path / "path");
  for (const std::string_view part : split(place, '/')) {
    if (part == "..") return problems.invalid(path / "path", place, "must not contain '..'");
  }
  check_word(problems, source, "type", path,
             {"", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File",
              "FileOrCreate", "Socket"});
}

void check_empty(Problems& problems, const Value& source, const Path& path) {
  check_word(problems, source, "medium", path, {"", "Memory"});
  const Value* limit = member(source, "sizeLimit");
  if (limit == nullptr || limit->is_null()) return;
  const auto size = Quantity::from(*limit);
  if (!size) return problems.invalid(path / "sizeLimit", *limit, size.error().message);
  if (*size < Quantity{}) {
    problems.forbidden(path / "sizeLimit", "SizeLimit field must be a valid resource quantity");
  }
  if (text_at(source, "medium") != "Memory") {
    problems.warn(path / "sizeLimit", "only that of medium Memory is watched");
  }
}

void check_source(Problems& problems, std::string_view kind, const Value& source, const Path& path,
                  const PodRules& rules) {
  if (kind == "emptyDir") return check_empty(problems, source, path);
  if (kind == "hostPath") return check_host_path(problems, source, path, rules);
  if (kind == "projected") return check_projected(problems, source, path);
  if (kind == "configMap" || kind == "secret") {
    const char* name = kind == "secret" ? "secretName" : "name";
    if (text_at(source, name).empty()) problems.required(path / name);
    check_mode(problems, source, "defaultMode", path);
    return check_items(problems, source, path);
  }
  if (kind == "downwardAPI") return check_downward(problems, source, path);
  problems.forbidden(path,
                     "drover does not serve this kind of volume; it has configMap, downwardAPI, "
                     "emptyDir, hostPath, projected and secret");
}

void check_volume(Problems& problems, const Value& volume, const Path& path,
                  const PodRules& rules) {
  const std::string_view name = text_at(volume, "name");
  if (name.empty()) {
    problems.required(path / "name");
  } else {
    problems.invalid(path / "name", name, dns1123_label(name));
  }
  int sources = 0;
  const Object* object = volume.if_object();
  if (object == nullptr) return;
  for (const auto& entry : *object) {
    const std::string_view kind = entry.key();
    if (kind == "name" || entry.value().is_null()) continue;
    if (++sources > 1) {
      problems.forbidden(path / kind, "may not specify more than 1 volume type");
    } else {
      check_source(problems, kind, entry.value(), path / kind, rules);
    }
  }
  if (sources == 0) problems.required(path, "must specify a volume type");
}

bool has_volume(const Value& pod, std::string_view name) {
  const Array* volumes = array_at(pod, "spec.volumes");
  return volumes != nullptr && std::ranges::any_of(*volumes, [name](const Value& volume) {
           return text_at(volume, "name") == name;
         });
}

}  // namespace

void check_volumes(Problems& problems, const Value& pod, const PodRules& rules) {
  const Array* volumes = array_at(pod, "spec.volumes");
  if (volumes == nullptr) return;
  const Path path = Path("spec") / "volumes";
  for (std::size_t i = 0; i < volumes->size(); ++i) {
    check_volume(problems, (*volumes)[i], path[i], rules);
  }
  check_unique(problems, volumes, "name", path);
}

void check_mounts(Problems& problems, const Value& pod, const ContainerPart& part) {
  const Array* mounts = array_at(*part.value, "volumeMounts");
  if (mounts == nullptr) return;
  std::set<std::string_view> places;
  for (std::size_t i = 0; i < mounts->size(); ++i) {
    const Value& mount = (*mounts)[i];
    const Path path = (part.path / "volumeMounts")[i];
    const std::string_view name = text_at(mount, "name");
    const std::string_view place = text_at(mount, "mountPath");
    if (name.empty()) {
      problems.required(path / "name");
    } else if (!has_volume(pod, name)) {
      problems.not_found(path / "name", name);
    }
    if (place.empty()) {
      problems.required(path / "mountPath");
    } else if (!places.insert(place).second) {
      problems.invalid(path / "mountPath", place, "must be unique");
    } else if (!place.starts_with('/')) {
      problems.invalid(path / "mountPath", place, "drover takes absolute paths only");
    }
    const std::string_view sub = text_at(mount, "subPath");
    if (!sub.empty()) check_inner_path(problems, sub, path / "subPath");
    check_unserved(problems, mount, "subPathExpr", path);
    check_word(problems, mount, "mountPropagation", path, {"None"});
    check_word(problems, mount, "recursiveReadOnly", path, {"Disabled"});
  }
}

}  // namespace drover::kube
