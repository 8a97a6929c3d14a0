#include "kube/schema/schema.h"

#include <algorithm>

#include "base/check.h"
#include "kube/schema/read.h"

namespace drover::kube {

const Field* Message::find(std::string_view json_name) const {
  const auto size_of = [](const Field* field) { return field->name.size(); };
  auto it = std::ranges::lower_bound(by_length, json_name.size(), {}, size_of);
  for (; it != by_length.end() && (*it)->name.size() == json_name.size(); ++it) {
    if ((*it)->name == json_name) return *it;
  }
  return nullptr;
}

const Field* Message::find(std::uint32_t number) const {
  const auto it = std::ranges::lower_bound(by_number, number, {}, &Field::number);
  return it == by_number.end() || (*it)->number != number ? nullptr : *it;
}

const Schema& Schema::built_in() {
  static const Schema schema = [] {
    auto read = read_schema(schema_texts());
    CHECK(read.has_value());
    return std::move(*read);
  }();
  return schema;
}

const Message* Schema::kind(std::string_view group, std::string_view version,
                            std::string_view name) const {
  const Message* shared = nullptr;
  for (const Message& message : messages_) {
    if (!message.kind || message.name != name) continue;
    if (message.full_name.find(".meta.") != std::string::npos) {
      shared = &message;
    } else if (message.group == group && message.version == version) {
      return &message;
    }
  }
  return shared;
}

const Message* Schema::kind(std::string_view api_version, std::string_view name) const {
  const GroupVersion split = split_api_version(api_version);
  return kind(split.group, split.version, name);
}

const Message* Schema::message(std::string_view full_name) const {
  const auto it = by_full_name_.find(full_name);
  return it == by_full_name_.end() ? nullptr : it->second;
}

GroupVersion split_api_version(std::string_view api_version) {
  const auto slash = api_version.find('/');
  if (slash == std::string_view::npos) return {{}, api_version};
  return {api_version.substr(0, slash), api_version.substr(slash + 1)};
}

}  // namespace drover::kube
