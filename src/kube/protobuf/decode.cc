#include "kube/protobuf/decode.h"

#include <protozero/exception.hpp>
#include <protozero/pbf_reader.hpp>

#include <string>
#include <utility>

#include "base/text.h"
#include "kube/json/parse.h"
#include "kube/protobuf/utf8.h"
#include "kube/schema/base64.h"
#include "kube/schema/time_text.h"
#include "kube/select/quantity.h"

namespace drover::kube {
namespace {

using Reader = protozero::pbf_reader;
using Wire = protozero::pbf_wire_type;

constexpr std::string_view kMagic{"k8s\0", 4};
constexpr int kMaxDepth = 64;

// Inside this file damage is thrown, as protozero does; it never leaves it.
struct Damage {
  std::string what;
};

void expect(const Reader& in, Wire wire) {
  if (!in.has_wire_type(wire)) throw protozero::unknown_pbf_wire_type_exception{};
}

std::string_view bytes_of(Reader& in) {
  expect(in, Wire::length_delimited);
  const auto view = in.get_view();
  return {view.data(), view.size()};
}

Reader inner(Reader& in) {
  const std::string_view view = bytes_of(in);
  return Reader(view.data(), view.size());
}

std::string_view text_of(Reader& in) {
  const std::string_view view = bytes_of(in);
  if (!is_utf8(view)) throw Damage{"a string is not UTF-8"};
  return view;
}

std::int64_t integer_of(Reader& in) {
  expect(in, Wire::varint);
  return in.get_int64();
}

// {seconds = 1, nanos = 2}; null for the message without fields, which is no time at all.
Value time_of(Reader in, bool micro) {
  Moment moment;
  bool any = false;
  while (in.next()) {
    any = true;
    switch (in.tag()) {
      case 1:
        moment.seconds = integer_of(in);
        break;
      case 2:
        moment.nanos = static_cast<std::int32_t>(integer_of(in));
        break;
      default:
        in.skip();
    }
  }
  if (!any) return nullptr;
  if (moment.nanos < 0 || moment.nanos > 999'999'999)
    throw Damage{"a time has impossible nanoseconds"};
  const std::string text = micro ? micro_time_text(moment) : time_text(moment);
  if (text.empty()) throw Damage{"a time is outside of the years 0 to 9999"};
  return Value(text);
}

Value quantity_of(Reader in) {
  std::string_view text = "0";
  while (in.next()) {
    if (in.tag() == 1) {
      text = bytes_of(in);
    } else {
      in.skip();
    }
  }
  auto quantity = Quantity::parse(text);
  if (!quantity) throw Damage{quantity.error().message};
  return Value(quantity->text());
}

// {type = 1 (0 number, 1 string), intVal = 2, strVal = 3}.
Value int_or_string_of(Reader in) {
  std::int64_t type = 0;
  std::int64_t number = 0;
  std::string_view text = "";
  while (in.next()) {
    switch (in.tag()) {
      case 1:
        type = integer_of(in);
        break;
      case 2:
        number = integer_of(in);
        break;
      case 3:
        text = text_of(in);
        break;
      default:
        in.skip();
    }
  }
  return type == 1 ? Value(text) : Value(number);
}

// {duration = 1}, in billionths of a second.
Value duration_of(Reader in) {
  std::int64_t nanos = 0;
  while (in.next()) {
    if (in.tag() == 1) {
      nanos = integer_of(in);
    } else {
      in.skip();
    }
  }
  return Value(std::to_string(nanos / 1'000'000) + "ms");
}

// JSON inside: {raw = 1}.
Value any_of(Reader in) {
  std::string_view json = "null";
  while (in.next()) {
    if (in.tag() == 1) {
      json = bytes_of(in);
    } else {
      in.skip();
    }
  }
  auto value = parse(json.empty() ? "null" : json, {.depth = kMaxDepth});
  if (!value) throw Damage{value.error().message};
  return std::move(*value);
}

Value strings_of(Reader in) {
  Array strings;
  while (in.next()) {
    if (in.tag() == 1) {
      strings.emplace_back(text_of(in));
    } else {
      in.skip();
    }
  }
  return strings;
}

class Decoder {
 public:
  void message(Reader in, const Message& message, Object& target, int depth) {
    if (depth > kMaxDepth) throw Damage{"it is nested too deep"};
    while (in.next()) {
      const Field* field = message.find(in.tag());
      if (field == nullptr) {
        in.skip();
      } else if (field->inlined) {
        this->message(inner(in), *field->message, target, depth + 1);
      } else if (field->shape == Shape::map) {
        entry(inner(in), *field, target, depth);
      } else if (field->shape == Shape::list) {
        item(in, *field, target, depth);
      } else {
        single(in, *field, target, depth);
      }
    }
  }

 private:
  Value one(Reader& in, const Field& field, int depth) {
    switch (field.type) {
      case FieldType::string:
        return Value(text_of(in));
      case FieldType::int32:
        return Value(static_cast<std::int32_t>(integer_of(in)));
      case FieldType::int64:
        return Value(integer_of(in));
      case FieldType::boolean:
        return Value(integer_of(in) != 0);
      case FieldType::real:
        expect(in, Wire::fixed64);
        return Value(in.get_double());
      case FieldType::bytes:
        return Value(to_base64(bytes_of(in)));
      case FieldType::quantity:
        return quantity_of(inner(in));
      case FieldType::time:
        return time_of(inner(in), false);
      case FieldType::micro_time:
        return time_of(inner(in), true);
      case FieldType::duration:
        return duration_of(inner(in));
      case FieldType::int_or_string:
        return int_or_string_of(inner(in));
      case FieldType::any:
        return any_of(inner(in));
      case FieldType::strings:
        return strings_of(inner(in));
      case FieldType::message:
        break;
    }
    Object object;
    message(inner(in), *field.message, object, depth + 1);
    return object;
  }

  static bool nothing(const Value& value, const Field& field) {
    if (value.is_null()) return true;
    if (field.required || field.zero_counts) return false;
    if (value.is_string()) return value.get_string().empty();
    if (value.is_bool()) return !value.get_bool();
    if (value.is_double()) return value.get_double() == 0;
    return value.is_int64() && value.get_int64() == 0 && field.type != FieldType::int_or_string;
  }

  void single(Reader& in, const Field& field, Object& target, int depth) {
    if (field.type == FieldType::message) {  // sent in parts, they belong together
      message(inner(in), *field.message, make_object(target, field.name), depth + 1);
      return;
    }
    Value value = one(in, field, depth);
    if (nothing(value, field)) {
      remove(target, field.name);
    } else {
      target[field.name] = std::move(value);
    }
  }

  static Array& list(Object& target, const Field& field) {
    Value& value = target[field.name];
    if (!value.is_array()) value.emplace_array();
    return value.get_array();
  }

  void item(Reader& in, const Field& field, Object& target, int depth) {
    const bool whole = field.type == FieldType::int32 || field.type == FieldType::int64;
    if (!whole || !in.has_wire_type(Wire::length_delimited)) {
      list(target, field).push_back(one(in, field, depth));
      return;
    }
    Array& array = list(target, field);  // packed
    for (const std::int64_t number : in.get_packed_int64()) array.emplace_back(number);
  }

  void entry(Reader in, const Field& field, Object& target, int depth) {
    std::string_view key = "";  // not null: it is copied
    Value value;
    while (in.next()) {
      switch (in.tag()) {
        case 1:
          key = text_of(in);
          break;
        case 2:
          value = one(in, field, depth + 1);
          break;
        default:
          in.skip();
      }
    }
    if (value.is_null()) value = empty(field);
    make_object(target, field.name)[key] = std::move(value);
  }

  // An entry without a value has its type's zero.
  static Value empty(const Field& field) {
    switch (field.type) {
      case FieldType::string:
      case FieldType::bytes:
        return Value("");
      case FieldType::quantity:
        return Value("0");
      case FieldType::message:
        return Object{};
      case FieldType::strings:
        return Array{};
      case FieldType::int32:
      case FieldType::int64:
        return Value(0);
      case FieldType::boolean:
        return Value(false);
      case FieldType::real:
        return Value(0.0);
      case FieldType::time:
      case FieldType::micro_time:
      case FieldType::duration:
      case FieldType::int_or_string:
      case FieldType::any:
        break;
    }
    return nullptr;
  }
};

template <class Work>
auto guarded(Work work) -> Result<decltype(work())> {
  try {
    return work();
  } catch (const protozero::exception& damage) {
    return Error{Errc::invalid, std::string("the protobuf message is damaged: ") + damage.what()};
  } catch (const Damage& damage) {
    return Error{Errc::invalid, "the protobuf message is damaged: " + damage.what};
  }
}

}  // namespace

Result<Envelope> read_envelope(std::string_view body) {
  if (!body.starts_with(kMagic)) {
    return Error{
        Errc::invalid,
        "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"};
  }
  body.remove_prefix(kMagic.size());
  return guarded([body] {
    Envelope envelope;
    Reader in(body.data(), body.size());
    while (in.next()) {
      if (in.tag() == 1) {
        for (Reader type = inner(in); type.next();) {
          switch (type.tag()) {
            case 1:
              envelope.api_version = text_of(type);
              break;
            case 2:
              envelope.kind = text_of(type);
              break;
            default:
              type.skip();
          }
        }
      } else if (in.tag() == 2) {
        envelope.raw = bytes_of(in);
      } else if (in.tag() == 3 && !bytes_of(in).empty()) {
        throw Damage{"its content encoding is not known"};
      } else if (in.tag() > 3) {
        in.skip();
      }
    }
    return envelope;
  });
}

Result<Value> decode_message(std::string_view raw, const Message& message) {
  return guarded([&] {
    Object object;
    Decoder().message(Reader(raw.data(), raw.size()), message, object, 0);
    return Value(std::move(object));
  });
}

Result<Value> decode_protobuf(std::string_view body, const Schema& schema) {
  const Envelope envelope = TRY(read_envelope(body));
  const Message* kind = schema.kind(envelope.api_version, envelope.kind);
  if (kind == nullptr) {
    return Error{Errc::invalid, "no kind \"" + printable(envelope.kind) +
                                    "\" is registered for version \"" +
                                    printable(envelope.api_version) + "\""};
  }
  Value message = TRY(decode_message(envelope.raw, *kind));
  Object object;
  object.reserve(message.get_object().size() + 2);
  object.emplace("apiVersion", envelope.api_version);
  object.emplace("kind", envelope.kind);
  for (auto& member : message.get_object()) object.emplace(member.key(), std::move(member.value()));
  return Value(std::move(object));
}

}  // namespace drover::kube
