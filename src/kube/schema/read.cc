#include "kube/schema/read.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"

namespace drover::kube {
namespace {

struct TypeWord {
  std::string_view text;
  FieldType type;
};
constexpr std::array kTypes{TypeWord{"string", FieldType::string},
                            TypeWord{"int32", FieldType::int32},
                            TypeWord{"int64", FieldType::int64},
                            TypeWord{"bool", FieldType::boolean},
                            TypeWord{"double", FieldType::real},
                            TypeWord{"bytes", FieldType::bytes},
                            TypeWord{"quantity", FieldType::quantity},
                            TypeWord{"time", FieldType::time},
                            TypeWord{"microtime", FieldType::micro_time},
                            TypeWord{"duration", FieldType::duration},
                            TypeWord{"int-or-string", FieldType::int_or_string},
                            TypeWord{"any", FieldType::any},
                            TypeWord{"strings", FieldType::strings}};

std::vector<std::string_view> words(std::string_view line) {
  std::vector<std::string_view> found;
  for (const std::string_view word : split(line, ' ')) {
    if (!word.empty()) found.push_back(word);
  }
  return found;
}

// "map(a,b)" with "map" -> "a,b".
std::optional<std::string_view> argument(std::string_view word, std::string_view name) {
  if (!word.starts_with(name) || !word.ends_with(')') || word.size() < name.size() + 2)
    return std::nullopt;
  if (word[name.size()] != '(') return std::nullopt;
  return word.substr(name.size() + 1, word.size() - name.size() - 2);
}

bool read_flag(std::string_view word, Field& field) {
  if (word == "atomic") {
    field.list = ListKind::atomic;
  } else if (word == "set") {
    field.list = ListKind::set;
  } else if (const auto keys = argument(word, "map")) {
    field.list = ListKind::map;
    field.list_keys = split(*keys, ',');
  } else if (const auto key = argument(word, "merge")) {
    field.merge = true;
    field.merge_key = *key;
  } else if (word == "merge") {
    field.merge = true;
  } else if (word == "retainKeys") {
    field.retain_keys = true;
  } else if (word == "inline") {
    field.inlined = true;
  } else {
    return false;
  }
  return true;
}

}  // namespace

class SchemaReader {
 public:
  Status file(std::string_view text) {
    prefix_ = {};
    std::size_t number = 0;
    for (const std::string_view line : split(text, '\n')) {
      ++number;
      if (auto done = take(line); !done)
        return std::move(done).error().under("line " + std::to_string(number));
    }
    return Done{};
  }

  Result<Schema> finish() {
    for (const auto& wanted : wanted_) {
      const Message* target = schema_.message(wanted.full_name);
      if (target == nullptr) return Error{Errc::invalid, "there is no message " + wanted.full_name};
      wanted.message->fields[wanted.field].message = target;
    }
    for (Message& message : schema_.messages_) TRY(index(message));
    return std::move(schema_);
  }

 private:
  struct Wanted {  // a field's message, which may come later
    Message* message;
    std::size_t field;
    std::string full_name;
  };

  static Error wrong(std::string_view what, std::string_view word) {
    return {Errc::invalid, std::string(what) + ": " + printable(word)};
  }

  Status take(std::string_view line) {
    if (line.empty() || line.front() == '#') return Done{};
    const auto colon = line.find(" : ");
    const std::string_view description =
        colon == std::string_view::npos ? std::string_view{} : line.substr(colon + 3);
    const auto parts = words(line.substr(0, colon));
    if (parts.empty()) return Done{};
    if (line.front() == ' ') return field(parts, description);
    if (parts.front() == "group" && parts.size() == 3) return group(parts);
    if ((parts.front() == "kind" || parts.front() == "message") && parts.size() >= 2)
      return message(parts, description);
    return wrong("not a group, kind or message", line);
  }

  Status group(std::span<const std::string_view> parts) {
    const GroupVersion split = split_api_version(parts[1]);
    group_ = split.group == "core" || split.group == "meta" ? std::string_view{} : split.group;
    version_ = split.version;
    prefix_ = parts[2];
    return Done{};
  }

  Status message(std::span<const std::string_view> parts, std::string_view description) {
    if (prefix_.empty()) return wrong("a message before its group", parts[1]);
    const std::string full_name = std::string(prefix_) + "." + std::string(parts[1]);
    if (schema_.message(full_name) != nullptr) return wrong("twice the same message", full_name);
    schema_.messages_.push_back({.name = parts[1],
                                 .full_name = full_name,
                                 .group = group_,
                                 .version = version_,
                                 .description = description,
                                 .kind = parts[0] == "kind",
                                 .listed = parts.size() == 3 && parts[2] == "listed"});
    const Message& message = schema_.messages_.back();
    schema_.by_full_name_.emplace(message.full_name, &message);
    return Done{};
  }

  Status field(std::span<const std::string_view> parts, std::string_view description) {
    if (schema_.messages_.empty() || parts.size() < 3) return wrong("not a field", parts[0]);
    Field field{.name = parts[0], .description = description};
    for (; field.name.ends_with('!') || field.name.ends_with('?'); field.name.remove_suffix(1)) {
      (field.name.ends_with('!') ? field.required : field.zero_counts) = true;
    }
    const auto number = parse_uint(parts[1]);
    if (!number || *number == 0 || *number > 10'000) return wrong("not a field number", parts[1]);
    field.number = static_cast<std::uint32_t>(*number);
    type(parts[2], field);
    for (const std::string_view word : parts.subspan(3)) {
      if (!read_flag(word, field)) return wrong("unknown word", word);
    }
    schema_.messages_.back().fields.push_back(std::move(field));
    return Done{};
  }

  void type(std::string_view word, Field& field) {
    if (word.starts_with('[') || word.starts_with('{')) {
      field.shape = word.front() == '[' ? Shape::list : Shape::map;
      word = word.substr(1, word.size() - 2);
    }
    const auto* known = std::ranges::find(kTypes, word, &TypeWord::text);
    if (known != kTypes.end()) {
      field.type = known->type;
      return;
    }
    field.type = FieldType::message;
    const auto slash = word.find('/');
    std::string full_name(prefix_);
    if (slash != std::string_view::npos) {
      full_name = word.substr(0, slash) == "meta"
                      ? "io.k8s.apimachinery.pkg.apis.meta.v1"
                      : "io.k8s.api." + std::string(word.substr(0, slash)) + ".v1";
      word.remove_prefix(slash + 1);
    }
    Message& message = schema_.messages_.back();
    wanted_.push_back({&message, message.fields.size(), full_name + "." + std::string(word)});
  }

  static Status index(Message& message) {
    TRY(add_members(message, message, 0));
    for (const Field& field : message.fields) message.by_number.push_back(&field);
    std::ranges::sort(message.by_name, {}, &Field::name);
    message.by_length = message.by_name;
    std::ranges::stable_sort(message.by_length, {},
                             [](const Field* field) { return field->name.size(); });
    std::ranges::sort(message.by_number, {}, &Field::number);
    if (std::ranges::adjacent_find(message.by_name, {}, &Field::name) != message.by_name.end() ||
        std::ranges::adjacent_find(message.by_number, {}, &Field::number) !=
            message.by_number.end()) {
      return wrong("twice the same field", message.full_name);
    }
    return Done{};
  }

  static Status add_members(Message& target, const Message& from, int depth) {
    if (depth > 4) return wrong("inlined too deep", target.full_name);
    for (const Field& field : from.fields) {
      if (!field.inlined) {
        target.by_name.push_back(&field);
      } else if (field.message == nullptr || field.shape != Shape::one) {
        return wrong("only a message can be inlined", field.name);
      } else {
        TRY(add_members(target, *field.message, depth + 1));
      }
    }
    return Done{};
  }

  Schema schema_;
  std::vector<Wanted> wanted_;
  std::string_view prefix_;
  std::string_view group_;
  std::string_view version_;
};

Result<Schema> read_schema(std::span<const std::string_view> texts) {
  SchemaReader reader;
  for (const std::string_view text : texts) TRY(reader.file(text));
  return reader.finish();
}

}  // namespace drover::kube
