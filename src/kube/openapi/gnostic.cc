#include "kube/openapi/gnostic.h"

#include <protozero/pbf_writer.hpp>

#include "kube/json/print.h"

namespace drover::kube {
namespace {

using Writer = protozero::pbf_writer;

void add_text(Writer& out, std::uint32_t number, const Object& from, std::string_view name) {
  const std::string_view value = text(from.if_contains(name));
  if (!value.empty()) out.add_string(number, value.data(), value.size());
}

void add_texts(Writer& out, std::uint32_t number, const Object& from, std::string_view name) {
  const Value* list = from.if_contains(name);
  if (list == nullptr || !list->is_array()) return;
  for (const Value& one : list->get_array()) {
    const std::string_view value = text(&one);
    out.add_string(number, value.data(), value.size());
  }
}

void add_flag(Writer& out, std::uint32_t number, const Object& from, std::string_view name) {
  const Value* value = from.if_contains(name);
  if (value != nullptr && value->is_bool() && value->get_bool()) out.add_bool(number, true);
}

// Writes one message; an empty one too, which protozero's nested writers would leave out.
template <class Write>
void add(Writer& out, std::uint32_t number, Write write) {
  std::string bytes;
  Writer inner(bytes);
  write(inner);
  out.add_message(number, bytes);
}

// NamedAny{name = 1, value = 2: Any{yaml = 2}} for each member x-...; JSON is YAML too.
void add_extensions(Writer& out, std::uint32_t number, const Object& from) {
  for (const auto& entry : from) {
    if (!std::string_view(entry.key()).starts_with("x-")) continue;
    add(out, number, [&](Writer& named) {
      named.add_string(1, entry.key().data(), entry.key().size());
      add(named, 2, [&](Writer& any) { any.add_string(2, print(entry.value())); });
    });
  }
}

// Schema: _ref = 1, format = 2, description = 4, required = 19, additional_properties = 21, type =
// 22, items = 23, properties = 25, vendor_extension = 31.
void write_schema(Writer& out, const Object& schema) {
  add_text(out, 1, schema, "$ref");
  add_text(out, 2, schema, "format");
  add_text(out, 4, schema, "description");
  add_texts(out, 19, schema, "required");
  if (const Value* inner = schema.if_contains("additionalProperties")) {
    add(out, 21, [&](Writer& item) {
      add(item, 1, [&](Writer& one) { write_schema(one, inner->as_object()); });
    });
  }
  if (schema.contains("type")) {
    add(out, 22, [&](Writer& type) { add_text(type, 1, schema, "type"); });
  }
  if (const Value* inner = schema.if_contains("items")) {
    add(out, 23, [&](Writer& items) {
      add(items, 1, [&](Writer& one) { write_schema(one, inner->as_object()); });
    });
  }
  if (const Value* properties = schema.if_contains("properties")) {
    add(out, 25, [&](Writer& list) {
      for (const auto& property : properties->as_object()) {
        add(list, 1, [&](Writer& named) {
          named.add_string(1, property.key().data(), property.key().size());
          add(named, 2, [&](Writer& one) { write_schema(one, property.value().as_object()); });
        });
      }
    });
  }
  add_extensions(out, 31, schema);
}

// A parameter of the body (Parameter 1), of the query (2, 3) or of the path (2, 4).
void write_parameter(Writer& out, const Object& from) {
  const std::string_view in = text(from.if_contains("in"));
  if (in == "body") {
    add(out, 1, [&](Writer& body) {
      add_text(body, 2, from, "name");
      add_text(body, 3, from, "in");
      add_flag(body, 4, from, "required");
      add(body, 5, [&](Writer& schema) { write_schema(schema, from.at("schema").as_object()); });
    });
    return;
  }
  const bool query = in == "query";
  add(out, 2, [&](Writer& parameter) {
    add(parameter, query ? 3 : 4, [&](Writer& one) {
      add_flag(one, 1, from, "required");
      add_text(one, 2, from, "in");
      add_text(one, 3, from, "description");
      add_text(one, 4, from, "name");
      add_text(one, query ? 6 : 5, from, "type");
      add_flag(one, query ? 20 : 19, from, "uniqueItems");
    });
  });
}

void add_parameters(Writer& out, std::uint32_t number, const Object& from) {
  const Value* list = from.if_contains("parameters");
  if (list == nullptr) return;
  for (const Value& one : list->as_array()) {
    add(out, number, [&](Writer& item) {
      add(item, 1, [&](Writer& parameter) { write_parameter(parameter, one.as_object()); });
    });
  }
}

void write_responses(Writer& out, const Object& responses) {
  for (const auto& response : responses) {
    add(out, 1, [&](Writer& named) {
      named.add_string(1, response.key().data(), response.key().size());
      add(named, 2, [&](Writer& value) {
        add(value, 1, [&](Writer& one) {
          const Object& from = response.value().as_object();
          add_text(one, 1, from, "description");
          add(one, 2, [&](Writer& item) {
            add(item, 1,
                [&](Writer& schema) { write_schema(schema, from.at("schema").as_object()); });
          });
        });
      });
    });
  }
}

void write_operation(Writer& out, const Object& from) {
  add_text(out, 5, from, "operationId");
  add_texts(out, 7, from, "consumes");
  add_parameters(out, 8, from);
  add(out, 9,
      [&](Writer& responses) { write_responses(responses, from.at("responses").as_object()); });
  add_extensions(out, 13, from);
}

void write_path(Writer& out, const Object& item) {
  constexpr std::pair<std::string_view, std::uint32_t> kMethods[] = {
      {"get", 2}, {"put", 3}, {"post", 4}, {"delete", 5}, {"patch", 8}};
  for (const auto& [method, number] : kMethods) {
    const Value* operation = item.if_contains(method);
    if (operation == nullptr) continue;
    add(out, number, [&](Writer& one) { write_operation(one, operation->as_object()); });
  }
  add_parameters(out, 9, item);
}

}  // namespace

std::string gnostic_document(const Value& document) {
  std::string bytes;
  Writer out(bytes);
  const Object& from = document.as_object();
  add_text(out, 1, from, "swagger");
  add(out, 2, [&](Writer& info) {
    add_text(info, 1, from.at("info").as_object(), "title");
    add_text(info, 2, from.at("info").as_object(), "version");
  });
  add(out, 8, [&](Writer& paths) {
    for (const auto& path : from.at("paths").as_object()) {
      add(paths, 2, [&](Writer& named) {
        named.add_string(1, path.key().data(), path.key().size());
        add(named, 2, [&](Writer& item) { write_path(item, path.value().as_object()); });
      });
    }
  });
  add(out, 9, [&](Writer& definitions) {
    for (const auto& definition : from.at("definitions").as_object()) {
      add(definitions, 1, [&](Writer& named) {
        named.add_string(1, definition.key().data(), definition.key().size());
        add(named, 2,
            [&](Writer& schema) { write_schema(schema, definition.value().as_object()); });
      });
    }
  });
  return bytes;
}

}  // namespace drover::kube
