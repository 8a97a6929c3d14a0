// A container's variables and where their values come from.
#include <array>

#include "kube/object/pod/check/checks.h"
#include "kube/object/pod/launch/field_ref.h"
#include "kube/select/names.h"

namespace drover::kube {
namespace {

void check_key_ref(Problems& problems, const Value& ref, const Path& path) {
  if (text_at(ref, "name").empty()) problems.required(path / "name");
  const std::string_view key = text_at(ref, "key");
  if (key.empty()) {
    problems.required(path / "key");
  } else {
    problems.invalid(path / "key", key, config_key(key));
  }
}

void check_field_ref(Problems& problems, const Value& ref, const Path& path) {
  const std::string_view field = text_at(ref, "fieldPath");
  if (field.empty()) {
    problems.required(path / "fieldPath");
  } else if (!is_field(field, false)) {
    problems.not_supported(path / "fieldPath", field,
                           {"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName",
                            "spec.serviceAccountName", "status.hostIP", "status.hostIPs",
                            "status.podIP", "status.podIPs"});
  }
}

void check_resource_ref(Problems& problems, const Value& ref, const Path& path) {
  const std::string_view resource = text_at(ref, "resource");
  if (resource.empty()) {
    problems.required(path / "resource");
  } else if (!is_resource_field(resource)) {
    problems.not_supported(path / "resource", resource,
                           {"limits.cpu", "limits.ephemeral-storage", "limits.memory",
                            "requests.cpu", "requests.ephemeral-storage", "requests.memory"});
  }
}

void check_source(Problems& problems, const Value& from, const Path& path) {
  int sources = 0;
  const Object* all = from.if_object();
  if (all == nullptr) return;
  for (const auto& entry : *all) {
    const std::string_view kind = entry.key();
    const Value& ref = entry.value();
    ++sources;
    if (kind == "fieldRef") {
      check_field_ref(problems, ref, path / kind);
    } else if (kind == "resourceFieldRef") {
      check_resource_ref(problems, ref, path / kind);
    } else if (kind == "configMapKeyRef" || kind == "secretKeyRef") {
      check_key_ref(problems, ref, path / kind);
    } else {
      problems.forbidden(path / kind, "drover does not serve it");
    }
  }
  if (sources == 0) {
    problems.invalid(path, "",
                     "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or "
                     "`secretKeyRef`");
  } else if (sources > 1) {
    problems.invalid(path, "", "may not have more than one field specified at a time");
  }
}

void check_variable(Problems& problems, const Value& one, const Path& path) {
  const std::string_view name = text_at(one, "name");
  if (name.empty()) {
    problems.required(path / "name");
  } else {
    problems.invalid(path / "name", name, env_var_name(name));
  }
  const Value* from = member(one, "valueFrom");
  if (from == nullptr || from->is_null()) return;
  if (!text_at(one, "value").empty()) {
    problems.invalid(path / "valueFrom", "", "may not be specified when `value` is not empty");
  }
  check_source(problems, *from, path / "valueFrom");
}

void check_whole(Problems& problems, const Value& from, const Path& path) {
  const std::string_view prefix = text_at(from, "prefix");
  if (!prefix.empty()) problems.invalid(path / "prefix", prefix, env_var_name(prefix));
  int sources = 0;
  for (const char* kind : {"configMapRef", "secretRef"}) {
    const Value* ref = member(from, kind);
    if (ref == nullptr || ref->is_null()) continue;
    ++sources;
    if (text_at(*ref, "name").empty()) problems.required(path / kind / "name");
  }
  if (sources == 0) {
    problems.invalid(path, "", "must specify one of: `configMapRef` or `secretRef`");
  } else if (sources > 1) {
    problems.invalid(path, "", "may not have more than one field specified at a time");
  }
}

}  // namespace

void check_environment(Problems& problems, const ContainerPart& part) {
  if (const Array* env = array_at(*part.value, "env")) {
    for (std::size_t i = 0; i < env->size(); ++i) {
      check_variable(problems, (*env)[i], (part.path / "env")[i]);
    }
  }
  if (const Array* whole = array_at(*part.value, "envFrom")) {
    for (std::size_t i = 0; i < whole->size(); ++i) {
      check_whole(problems, (*whole)[i], (part.path / "envFrom")[i]);
    }
  }
}

}  // namespace drover::kube
