#include "kube/openapi/definitions.h"

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "kube/schema/resources.h"

namespace drover::kube {
namespace {

constexpr std::string_view kQuantity = "io.k8s.apimachinery.pkg.api.resource.Quantity";
constexpr std::string_view kIntOrString = "io.k8s.apimachinery.pkg.util.intstr.IntOrString";
constexpr std::string_view kTime = "io.k8s.apimachinery.pkg.apis.meta.v1.Time";
constexpr std::string_view kMicroTime = "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime";
constexpr std::string_view kDuration = "io.k8s.apimachinery.pkg.apis.meta.v1.Duration";
constexpr std::string_view kListMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";

constexpr std::string_view kApiVersionText = "Group and version of the kind, as in policy/v1.";
constexpr std::string_view kKindText = "The kind of the object.";

Object plain(std::string_view type, std::string_view format = {}) {
  Object schema{{"type", type}};
  if (!format.empty()) schema.emplace("format", format);
  return schema;
}

Object described(Object schema, std::string_view description) {
  if (!description.empty()) schema.insert_or_assign("description", description);
  return schema;
}

// What isn't a message in the schema files, because its JSON is a single value.
Object amount(Dialect dialect) {
  Object schema = dialect == Dialect::v2 ? plain("string") : Object{};
  if (dialect == Dialect::v3) schema["oneOf"] = Array{plain("string"), plain("number")};
  return described(std::move(schema), "An amount such as 2, 500m, 1.5Gi or 2e3.");
}

Object int_or_string(Dialect dialect) {
  Object schema = dialect == Dialect::v2 ? plain("string", "int-or-string")
                                         : Object{{"format", "int-or-string"}};
  if (dialect == Dialect::v3) schema["oneOf"] = Array{plain("integer"), plain("string")};
  return described(std::move(schema), "A number or a text.");
}

Object single_value(Dialect dialect, std::string_view name) {
  if (name == kQuantity) return amount(dialect);
  if (name == kIntOrString) return int_or_string(dialect);
  if (name == kTime)
    return described(plain("string", "date-time"), "A moment, as 2026-12-01T08:00:00Z.");
  if (name == kMicroTime)
    return described(plain("string", "date-time"), "A moment, to the microsecond.");
  if (name == kDuration) return described(plain("string"), "A span of time, as 30s.");
  return described(plain("object"), "The changes, in the form that the content type says.");
}

std::string_view merge_text(const Field& field) {
  if (field.merge) return field.retain_keys ? "merge,retainKeys" : "merge";
  return field.retain_keys ? "retainKeys" : std::string_view{};
}

std::string_view list_text(ListKind list) {
  switch (list) {
    case ListKind::unset:
      break;
    case ListKind::atomic:
      return "atomic";
    case ListKind::set:
      return "set";
    case ListKind::map:
      return "map";
  }
  return {};
}

class Maker {
 public:
  explicit Maker(Dialect dialect) : dialect_(dialect) {}

  void want(const Message& message) {
    if (schemas_.contains(message.full_name)) return;
    schemas_[message.full_name] = {};  // so that a message may refer to itself
    schemas_[message.full_name] = of(message);
    if (message.listed) schemas_[message.full_name + "List"] = list_of(message);
  }
  void want(std::string_view single) {
    schemas_.try_emplace(std::string(single), single_value(dialect_, single));
  }

  Object take() {
    Object all;
    for (auto& [name, schema] : schemas_) all.emplace(name, std::move(schema));
    return all;
  }

 private:
  Object refer(std::string_view single) {
    want(single);
    return reference_to(dialect_, single);
  }

  Object one(const Field& field) {
    switch (field.type) {
      case FieldType::string:
        return plain("string");
      case FieldType::int32:
        return plain("integer", "int32");
      case FieldType::int64:
        return plain("integer", "int64");
      case FieldType::boolean:
        return plain("boolean");
      case FieldType::real:
        return plain("number", "double");
      case FieldType::bytes:
        return plain("string", "byte");
      case FieldType::quantity:
        return refer(kQuantity);
      case FieldType::time:
        return refer(kTime);
      case FieldType::micro_time:
        return refer(kMicroTime);
      case FieldType::duration:
        return refer(kDuration);
      case FieldType::int_or_string:
        return refer(kIntOrString);
      case FieldType::any:
        return plain("object");
      case FieldType::strings: {
        Object list = plain("array");
        list.emplace("items", plain("string"));
        return list;
      }
      case FieldType::message:
        break;
    }
    want(*field.message);
    return reference_to(dialect_, field.message->full_name);
  }

  // In 3.0 nothing may stand beside a reference.
  Object beside(Object schema) const {
    if (dialect_ == Dialect::v2 || !schema.contains("$ref")) return schema;
    Object wrapped;
    wrapped.emplace("allOf", Array{std::move(schema)});
    return wrapped;
  }

  Object property(const Field& field) {
    Object schema;
    if (field.shape == Shape::one) {
      schema = beside(one(field));
    } else {
      schema = plain(field.shape == Shape::list ? "array" : "object");
      schema.emplace(field.shape == Shape::list ? "items" : "additionalProperties", one(field));
    }
    const bool message = field.type == FieldType::message && field.description.empty();
    schema = described(std::move(schema), message ? field.message->description : field.description);
    if (const auto text = list_text(field.list); !text.empty())
      schema.emplace("x-kubernetes-list-type", text);
    if (!field.list_keys.empty()) {
      Array keys;
      for (const std::string_view key : field.list_keys) keys.emplace_back(key);
      schema.emplace("x-kubernetes-list-map-keys", std::move(keys));
    }
    if (!field.merge_key.empty()) schema.emplace("x-kubernetes-patch-merge-key", field.merge_key);
    if (const auto text = merge_text(field); !text.empty())
      schema.emplace("x-kubernetes-patch-strategy", text);
    return schema;
  }

  static Object head() {
    Object properties;
    properties.emplace("apiVersion", described(plain("string"), kApiVersionText));
    properties.emplace("kind", described(plain("string"), kKindText));
    return properties;
  }

  Object of(const Message& message) {
    Object properties = message.kind ? head() : Object{};
    Array required;
    for (const Field* field : message.members()) {
      properties.emplace(field->name, property(*field));
      if (field->required) required.emplace_back(field->name);
    }
    Object schema = described(plain("object"), message.description);
    if (!required.empty()) schema.emplace("required", std::move(required));
    if (!properties.empty()) schema.emplace("properties", std::move(properties));
    if (message.kind) schema.emplace(kKindExtension, kinds_of(message));
    return schema;
  }

  // Options of deletion are sent in the name of every group.
  static Array kinds_of(const Message& message) {
    Array kinds;
    if (message.full_name != kDeleteOptionsName) {
      kinds.push_back(group_version_kind(message.group, message.version, message.name));
      return kinds;
    }
    std::set<std::pair<std::string_view, std::string_view>> groups;
    for (const Resource& resource : resources()) groups.emplace(resource.group, resource.version);
    for (const auto& [group, version] : groups)
      kinds.push_back(group_version_kind(group, version, message.name));
    return kinds;
  }

  Object list_of(const Message& message) {
    want(*Schema::built_in().message(kListMeta));
    Object items = plain("array");
    items.emplace("items", reference_to(dialect_, message.full_name));
    Object properties = head();
    properties.emplace("items", std::move(items));
    properties.emplace("metadata", beside(reference_to(dialect_, kListMeta)));
    const std::string name = std::string(message.name) + "List";
    Object schema =
        described(plain("object"), "Objects of the kind " + std::string(message.name) + ".");
    schema.emplace("required", Array{"items"});
    schema.emplace("properties", std::move(properties));
    schema.emplace(kKindExtension, Array{group_version_kind(message.group, message.version, name)});
    return schema;
  }

  Dialect dialect_;
  std::map<std::string, Object> schemas_;
};

}  // namespace

Object definitions(Dialect dialect, std::span<const Message* const> kinds) {
  Maker maker(dialect);
  for (const Message* kind : kinds) maker.want(*kind);
  for (const std::string_view shared : {kDeleteOptionsName, kStatusName}) {
    maker.want(*Schema::built_in().message(shared));
  }
  maker.want(kPatchName);
  return maker.take();
}

}  // namespace drover::kube
