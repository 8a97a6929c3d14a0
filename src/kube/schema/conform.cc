#include "kube/schema/conform.h"

#include <limits>

#include "base/text.h"
#include "kube/schema/base64.h"
#include "kube/schema/time_text.h"
#include "kube/select/quantity.h"

namespace drover::kube {
namespace {

std::string_view json_kind(const Value& value) {
  if (value.is_string()) return "string";
  if (value.is_bool()) return "bool";
  if (value.is_object()) return "object";
  return value.is_array() ? "array" : "number";
}

std::string scalar_name(const Field& field) {
  switch (field.type) {
    case FieldType::string:
      return "string";
    case FieldType::int32:
      return "int32";
    case FieldType::int64:
      return "int64";
    case FieldType::boolean:
      return "bool";
    case FieldType::real:
      return "float64";
    case FieldType::bytes:
      return "[]uint8";
    case FieldType::quantity:
      return "resource.Quantity";
    case FieldType::time:
      return "v1.Time";
    case FieldType::micro_time:
      return "v1.MicroTime";
    case FieldType::duration:
      return "v1.Duration";
    case FieldType::int_or_string:
      return "intstr.IntOrString";
    case FieldType::any:
      return "runtime.RawExtension";
    case FieldType::strings:
      return "[]string";
    case FieldType::message:
      return std::string(field.message->version) + "." + std::string(field.message->name);
  }
  return {};
}

std::string type_name(const Field& field) {
  switch (field.shape) {
    case Shape::one:
      return scalar_name(field);
    case Shape::list:
      return "[]" + scalar_name(field);
    case Shape::map:
      return "map[string]" + scalar_name(field);
  }
  return {};
}

// Where we are; the text is made only for a message.
struct Place {
  const Place* outer = nullptr;
  std::string_view name;
  std::size_t index = 0;
  bool item = false;

  [[nodiscard]] std::string path(bool with_items) const {
    std::string text = outer == nullptr ? std::string{} : outer->path(with_items);
    if (!item) return text.empty() ? std::string(name) : text + "." + std::string(name);
    return with_items ? text + "[" + std::to_string(index) + "]" : text;
  }
};

class Conform {
 public:
  explicit Conform(FieldProblems& problems) : problems_(problems) {}

  Status object(Value& value, const Message& message, const Place* place) {
    Object& members = value.get_object();
    for (auto it = members.begin(); it != members.end();) {
      const std::string_view name = it->key();
      const Field* field = message.find(name);
      const Place here{place, name};
      const bool fixed = message.kind && (name == "apiVersion" || name == "kind");
      if (field == nullptr && !fixed) note(here);
      if (it->value().is_null() || (field == nullptr && !fixed)) {
        it = remove(members, it);
        continue;
      }
      if (field != nullptr) TRY(shaped(it->value(), *field, message, here));
      ++it;
    }
    return Done{};
  }

 private:
  void note(const Place& place) {
    if (problems_.unknown.size() < 64) problems_.unknown.push_back(place.path(true));
  }

  static Error wrong(const Value& value, const std::string& type, const Message& message,
                     const Place& place) {
    return {Errc::invalid, "json: cannot unmarshal " + std::string(json_kind(value)) +
                               " into Go struct field " + std::string(message.name) + "." +
                               place.path(false) + " of type " + type};
  }

  Status shaped(Value& value, const Field& field, const Message& message, const Place& place) {
    if (field.shape == Shape::one) return one(value, field, message, place);
    if (field.shape == Shape::map) {
      if (!value.is_object()) return wrong(value, type_name(field), message, place);
      for (auto& entry : value.get_object()) {
        const Place inner{&place, entry.key()};
        if (entry.value().is_null()) continue;
        TRY(one(entry.value(), field, message, inner));
      }
      return Done{};
    }
    if (!value.is_array()) return wrong(value, type_name(field), message, place);
    std::size_t index = 0;
    for (Value& item : value.get_array()) {
      const Place inner{.outer = &place, .index = index++, .item = true};
      if (!item.is_null()) TRY(one(item, field, message, inner));
    }
    return Done{};
  }

  Status one(Value& value, const Field& field, const Message& message, const Place& place) {
    const auto check = [&](bool good) -> Status {
      if (good) return Done{};
      return wrong(value, scalar_name(field), message, place);
    };
    switch (field.type) {
      case FieldType::string:
        return check(value.is_string());
      case FieldType::boolean:
        return check(value.is_bool());
      case FieldType::real:
        return check(value.is_number());
      case FieldType::int64:
        return check(value.is_int64());
      case FieldType::int32:
        return check(value.is_int64() && fits(value.get_int64()));
      case FieldType::int_or_string:
        return check(value.is_string() || (value.is_int64() && fits(value.get_int64())));
      case FieldType::bytes:
        TRY(check(value.is_string()));
        return bytes(value);
      case FieldType::duration:
        return check(value.is_string());
      case FieldType::quantity:
        return quantity(value);
      case FieldType::time:
      case FieldType::micro_time:
        TRY(check(value.is_string()));
        return time(value, field.type == FieldType::micro_time);
      case FieldType::any:
        return Done{};
      case FieldType::strings:
        return check(value.is_array());
      case FieldType::message:
        TRY(check(value.is_object()));
        return object(value, *field.message, &place);
    }
    return Done{};
  }

  static bool fits(std::int64_t number) {
    return number >= std::numeric_limits<std::int32_t>::min() &&
           number <= std::numeric_limits<std::int32_t>::max();
  }

  static Status bytes(const Value& value) {
    if (is_base64(text(&value))) return Done{};
    return Error{Errc::invalid, "illegal base64 data"};
  }

  static Status quantity(Value& value) {
    if (is_canonical(text(&value))) return Done{};
    const std::string canonical = TRY(Quantity::from(value)).text();
    if (text(&value) != canonical) value = canonical;
    return Done{};
  }

  static Status time(Value& value, bool micro) {
    const std::string_view given = text(&value);
    const auto moment = parse_time(given);
    const std::string canonical = !moment ? ""
                                  : micro ? micro_time_text(*moment)
                                          : time_text(*moment);
    if (canonical.empty()) {
      return Error{Errc::invalid, "parsing time " + printable(given, 64) + " as RFC 3339 failed"};
    }
    if (given != canonical) value = canonical;
    return Done{};
  }

  FieldProblems& problems_;
};

}  // namespace

Status conform(Value& object, const Message& kind, FieldProblems& problems) {
  if (!object.is_object()) return Error{Errc::invalid, "the body is no object"};
  return Conform(problems).object(object, kind, nullptr);
}

}  // namespace drover::kube
