#include "kube/object/pod/launch/volumes.h"

#include "kube/object/pod/launch/environment.h"
#include "kube/object/pod/launch/field_ref.h"
#include "kube/object/pod/parts.h"

namespace drover::kube {
namespace {

std::uint32_t mode_of(const Value& holder, const char* name, std::uint32_t otherwise) {
  const auto mode = integer_at(holder, name);
  return mode && *mode >= 0 && *mode <= 0777 ? static_cast<std::uint32_t>(*mode) : otherwise;
}

class Maker {
 public:
  Maker(const Value& pod, const LaunchLookups& lookups) : pod_(pod), lookups_(lookups) {}

  Volumes make() {
    Volumes volumes;
    if (const Array* list = array_at(pod_, "spec.volumes")) {
      for (const Value& one : *list) {
        error_.clear();
        volumes.list.push_back(volume(one));
        if (!error_.empty()) volumes.errors[volumes.list.back().name] = error_;
      }
    }
    return volumes;
  }

 private:
  PodVolume volume(const Value& one) {
    PodVolume volume{.name = std::string(text_at(one, "name"))};
    if (const Value* empty = member(one, "emptyDir")) {
      volume.kind = text_at(*empty, "medium") == "Memory" ? VolumeKind::memory : VolumeKind::empty;
      const Value* limit = member(*empty, "sizeLimit");
      const auto size = limit == nullptr ? Result<Quantity>(Quantity{}) : Quantity::from(*limit);
      if (size) volume.size_limit = Bytes::of(size->units());
    } else if (const Value* path = member(one, "hostPath")) {
      volume.kind = VolumeKind::host_path;
      volume.host_path = text_at(*path, "path");
      volume.host_type = text_at(*path, "type");
    } else {
      volume.kind = VolumeKind::files;
      fill(volume, one);
    }
    return volume;
  }

  void fill(PodVolume& volume, const Value& one) {
    if (const Value* map = member(one, "configMap")) {
      from_object(volume, *map, text_at(*map, "name"), false, mode_of(*map, "defaultMode", 0644));
    } else if (const Value* secret = member(one, "secret")) {
      const auto name = text_at(*secret, "secretName");
      from_object(volume, *secret, name, true, mode_of(*secret, "defaultMode", 0644));
    } else if (const Value* downward = member(one, "downwardAPI")) {
      from_pod(volume, *downward, mode_of(*downward, "defaultMode", 0644));
    } else if (const Value* projected = member(one, "projected")) {
      const std::uint32_t mode = mode_of(*projected, "defaultMode", 0644);
      const Array* sources = array_at(*projected, "sources");
      if (sources == nullptr) return;
      for (const Value& source : *sources) project(volume, source, mode);
    }
  }

  void project(PodVolume& volume, const Value& source, std::uint32_t mode) {
    if (const Value* map = member(source, "configMap")) {
      from_object(volume, *map, text_at(*map, "name"), false, mode);
    }
    if (const Value* secret = member(source, "secret")) {
      from_object(volume, *secret, text_at(*secret, "name"), true, mode);
    }
    if (const Value* downward = member(source, "downwardAPI")) from_pod(volume, *downward, mode);
    if (const Value* token = member(source, "serviceAccountToken")) from_account(volume, *token, mode);
  }

  void from_account(PodVolume& volume, const Value& source, std::uint32_t mode) {
    if (!lookups_.account_token) return fail("there are no tokens of service accounts here");
    auto token = lookups_.account_token(text_at(source, "audience"),
                                        integer_at(source, "expirationSeconds").value_or(3600));
    if (!token) return fail(token.error().message);
    put(volume, text_at(source, "path"), *std::move(token), mode);
  }

  void fail(const std::string& why) {
    if (error_.empty()) error_ = why;
  }

  static std::optional<std::string> bytes_of(const Value& object, std::string_view key,
                                             bool secret) {
    if (secret) return secret_value(object, key);
    if (auto value = config_map_value(object, key)) return value;
    const Value* binary = member(object, "binaryData");
    return binary == nullptr ? std::nullopt : secret_value(Object{{"data", *binary}}, key);
  }

  void from_object(PodVolume& volume, const Value& source, std::string_view name, bool secret,
                   std::uint32_t mode) {
    const bool optional = flag_at(source, "optional");
    const FindObject& look = secret ? lookups_.secret : lookups_.config_map;
    const auto object = look ? look(name) : std::nullopt;
    if (!object) {
      if (!optional) {
        fail(std::string(secret ? "secret" : "configmap") + " \"" + std::string(name) +
             "\" not found");
      }
      return;
    }
    const Array* items = array_at(source, "items");
    if (items == nullptr || items->empty()) return all_of(volume, *object, secret, mode);
    for (const Value& item : *items) {
      const std::string_view key = text_at(item, "key");
      if (auto bytes = bytes_of(*object, key, secret)) {
        put(volume, text_at(item, "path"), std::move(*bytes), mode_of(item, "mode", mode));
      } else if (!optional) {
        fail("references non-existent " + std::string(secret ? "secret" : "config") +
             " key: " + std::string(key));
      }
    }
  }

  static void all_of(PodVolume& volume, const Value& object, bool secret, std::uint32_t mode) {
    for (const char* part : {"data", "binaryData"}) {
      const Object* data = object_at(object, part);
      if (data == nullptr) continue;
      for (const auto& entry : *data) {
        auto bytes = bytes_of(object, entry.key(), secret);
        if (bytes) put(volume, entry.key(), std::move(*bytes), mode);
      }
    }
  }

  void from_pod(PodVolume& volume, const Value& downward, std::uint32_t mode) {
    const Array* items = array_at(downward, "items");
    if (items == nullptr) return;
    for (const Value& item : *items) {
      std::optional<std::string> bytes;
      if (const Value* field = member(item, "fieldRef")) {
        bytes = field_text(pod_, text_at(*field, "fieldPath"), lookups_);
      } else if (const Value* amount = member(item, "resourceFieldRef")) {
        bytes = amount_text(*amount);
      }
      if (bytes) {
        put(volume, text_at(item, "path"), std::move(*bytes), mode_of(item, "mode", mode));
      }
    }
  }

  std::optional<std::string> amount_text(const Value& ref) {
    for (const ContainerPart& part : containers_of(pod_)) {
      if (part.name() == text_at(ref, "containerName")) {
        return resource_text(*part.value, ref, lookups_);
      }
    }
    return std::nullopt;
  }

  // A later source of a projected volume wins.
  static void put(PodVolume& volume, std::string_view path, std::string bytes, std::uint32_t mode) {
    for (PodFile& file : volume.files) {
      if (file.path != path) continue;
      file.bytes = std::move(bytes);
      file.mode = mode;
      return;
    }
    volume.files.push_back({.path = std::string(path), .bytes = std::move(bytes), .mode = mode});
  }

  const Value& pod_;
  const LaunchLookups& lookups_;
  std::string error_;
};

}  // namespace

Volumes volumes_of(const Value& pod, const LaunchLookups& lookups) {
  return Maker(pod, lookups).make();
}

}  // namespace drover::kube
