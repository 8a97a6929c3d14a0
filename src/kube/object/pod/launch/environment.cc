#include "kube/object/pod/launch/environment.h"

#include "kube/object/pod/launch/field_ref.h"
#include "kube/object/pod/parts.h"
#include "kube/schema/base64.h"
#include "kube/select/names.h"

namespace drover::kube {
namespace {

class Reader {
 public:
  Reader(const Value& pod, const Value& container, const LaunchLookups& lookups, std::string& error)
      : pod_(pod), container_(container), lookups_(lookups), error_(error) {}

  Variables read() {
    for (const std::string& line : lookups_.environment) {
      const auto equals = line.find('=');
      if (equals != std::string::npos) all_.set(line.substr(0, equals), line.substr(equals + 1));
    }
    if (const Array* whole = array_at(container_, "envFrom")) {
      for (const Value& from : *whole) add_all(from);
    }
    if (const Array* env = array_at(container_, "env")) {
      for (const Value& one : *env) add(one);
    }
    return std::move(all_);
  }

 private:
  void fail(std::string why) {
    if (error_.empty()) error_ = std::move(why);
  }

  void add_all(const Value& from) {
    const std::string_view prefix = text_at(from, "prefix");
    for (const bool secret : {false, true}) {
      const Value* ref = member(from, secret ? "secretRef" : "configMapRef");
      if (ref == nullptr) continue;
      const auto found = find(*ref, secret);
      const Object* data = found ? object_at(*found, "data") : nullptr;
      if (data == nullptr) continue;
      for (const auto& entry : *data) {
        const std::string name = std::string(prefix) + std::string(std::string_view(entry.key()));
        const auto value =
            secret ? secret_value(*found, entry.key()) : config_map_value(*found, entry.key());
        // A key that can't be a variable's name is passed over, as everywhere.
        if (value && env_var_name(name).empty()) all_.set(name, *value);
      }
    }
  }

  std::optional<Value> find(const Value& ref, bool secret) {
    const std::string name(text_at(ref, "name"));
    const FindObject& look = secret ? lookups_.secret : lookups_.config_map;
    auto found = look ? look(name) : std::nullopt;
    if (!found && !flag_at(ref, "optional")) {
      fail(std::string(secret ? "secret" : "configmap") + " \"" + name + "\" not found");
    }
    return found;
  }

  void add(const Value& one) {
    const std::string_view name = text_at(one, "name");
    const Value* from = member(one, "valueFrom");
    if (from == nullptr || from->is_null()) {
      all_.set(name, expand(text_at(one, "value"), all_));
    } else if (const auto value = value_from(*from)) {
      all_.set(name, *value);
    }
  }

  std::optional<std::string> value_from(const Value& from) {
    if (const Value* field = member(from, "fieldRef")) {
      return field_text(pod_, text_at(*field, "fieldPath"), lookups_);
    }
    if (const Value* resource = member(from, "resourceFieldRef")) return amount(*resource);
    if (const Value* ref = member(from, "configMapKeyRef")) return key_of(*ref, false);
    if (const Value* ref = member(from, "secretKeyRef")) return key_of(*ref, true);
    return std::nullopt;
  }

  std::string amount(const Value& ref) {
    const std::string_view name = text_at(ref, "containerName");
    for (const ContainerPart& part : containers_of(pod_)) {
      if (!name.empty() && part.name() == name) return resource_text(*part.value, ref, lookups_);
    }
    return resource_text(container_, ref, lookups_);
  }

  std::optional<std::string> key_of(const Value& ref, bool secret) {
    const auto found = find(ref, secret);
    if (!found) return std::nullopt;
    const std::string_view key = text_at(ref, "key");
    auto value = secret ? secret_value(*found, key) : config_map_value(*found, key);
    if (!value && !flag_at(ref, "optional")) {
      fail("couldn't find key " + std::string(key) + " in " + (secret ? "Secret " : "ConfigMap ") +
           std::string(text_at(pod_, "metadata.namespace")) + "/" +
           std::string(text_at(ref, "name")));
    }
    return value;
  }

  const Value& pod_;
  const Value& container_;
  const LaunchLookups& lookups_;
  std::string& error_;
  Variables all_;
};

}  // namespace

std::optional<std::string> config_map_value(const Value& map, std::string_view key) {
  const Value* data = member(map, "data");
  const Value* value = data == nullptr ? nullptr : member(*data, key);
  if (value != nullptr && value->is_string()) return std::string(text(value));
  return std::nullopt;
}

std::optional<std::string> secret_value(const Value& secret, std::string_view key) {
  const Value* data = member(secret, "data");
  const Value* value = data == nullptr ? nullptr : member(*data, key);
  return value == nullptr ? std::nullopt : from_base64(text(value));
}

Variables variables_of(const Value& pod, const Value& container, const LaunchLookups& lookups,
                       std::string& error) {
  return Reader(pod, container, lookups, error).read();
}

}  // namespace drover::kube
