// The messages that the Kubernetes door knows: their fields by JSON name and by protobuf number,
// how lists merge, and a line of explanation. Read once from src/kube/schema/*.schema (the format
// is in read.h) and immutable after that; all texts live as long as the schema.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace drover::kube {

struct Message;

enum class FieldType : std::uint8_t {
  string,
  int32,
  int64,
  boolean,
  real,
  bytes,       // base64 in JSON
  quantity,    // "100m"; a message with one string in protobuf
  time,        // RFC 3339, whole seconds
  micro_time,  // RFC 3339 with six digits
  duration,    // "30s"
  int_or_string,
  any,      // any JSON, kept as it is
  strings,  // a list of strings that is a message of its own in protobuf
  message
};
enum class Shape : std::uint8_t { one, list, map };  // a map's keys are strings
enum class ListKind : std::uint8_t { unset, atomic, set, map };

struct Field {
  std::string_view name;
  std::uint32_t number = 0;
  FieldType type = FieldType::string;
  Shape shape = Shape::one;
  const Message* message = nullptr;  // for FieldType::message
  bool required = false;
  bool zero_counts = false;  // 0, "" and false differ from nothing at all
  bool inlined = false;      // its fields are members of the object around it
  bool merge = false;        // a strategic merge patch merges the list instead of replacing it
  bool retain_keys = false;
  std::string_view merge_key;  // "" for a list of scalars
  ListKind list = ListKind::unset;
  std::vector<std::string_view> list_keys;
  std::string_view description;
};

struct Message {
  std::string_view name;     // "Pod"
  std::string full_name;     // "io.k8s.api.core.v1.Pod"
  std::string_view group;    // "" for core and meta
  std::string_view version;  // "v1"
  std::string_view description;
  bool kind = false;          // stands alone, with apiVersion and kind in JSON
  bool listed = false;        // there is a kind "<name>List" too
  std::vector<Field> fields;  // as written

  // By JSON name, through inlined fields; null for a field there isn't. apiVersion and kind of a
  // kind are no fields.
  [[nodiscard]] const Field* find(std::string_view json_name) const;
  [[nodiscard]] const Field* find(std::uint32_t number) const;
  // All that an object may hold, inlined fields resolved, by name.
  [[nodiscard]] std::span<const Field* const> members() const { return by_name; }

  // Filled when the schema is complete. The lookup compares lengths first: most names differ there.
  std::vector<const Field*> by_name;
  std::vector<const Field*> by_length;
  std::vector<const Field*> by_number;
};

class Schema {
 public:
  // The one that is built in. The first call reads it (about 1 ms).
  [[nodiscard]] static const Schema& built_in();

  // "" and "v1" for core. Kinds of meta/v1 (Status, DeleteOptions) are found in every group. Null
  // for what there isn't.
  [[nodiscard]] const Message* kind(std::string_view group, std::string_view version,
                                    std::string_view name) const;
  // The same by "apps/v1" or "v1".
  [[nodiscard]] const Message* kind(std::string_view api_version, std::string_view name) const;
  [[nodiscard]] const Message* message(std::string_view full_name) const;
  // In the order of the files.
  [[nodiscard]] const std::deque<Message>& messages() const { return messages_; }

  Schema(Schema&&) = default;  // messages keep their place, so what points at them stays good
  Schema& operator=(Schema&&) = default;
  Schema(const Schema&) = delete;
  Schema& operator=(const Schema&) = delete;

 private:
  friend class SchemaReader;
  Schema() = default;
  std::deque<Message> messages_;
  std::map<std::string_view, const Message*> by_full_name_;
};

// "batch/v1" -> {"batch", "v1"}; "v1" -> {"", "v1"}.
struct GroupVersion {
  std::string_view group;
  std::string_view version;
};
[[nodiscard]] GroupVersion split_api_version(std::string_view api_version);

}  // namespace drover::kube
