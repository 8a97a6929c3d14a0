#include "kube/json/value.h"

#include <algorithm>
#include <cmath>

namespace drover::kube {
namespace {

template <class V>
V* walk(V& root, std::string_view path) {
  V* here = &root;
  while (here != nullptr && !path.empty()) {
    const auto dot = path.find('.');
    here = member(*here, path.substr(0, dot));
    path.remove_prefix(dot == std::string_view::npos ? path.size() : dot + 1);
  }
  return here;
}

double real(const Value& number) {
  if (number.is_int64()) return static_cast<double>(number.get_int64());
  if (number.is_uint64()) return static_cast<double>(number.get_uint64());
  return number.get_double();
}

bool same_number(const Value& a, const Value& b) {
  if (a.kind() != b.kind()) return real(a) == real(b);
  if (a.is_int64()) return a.get_int64() == b.get_int64();
  if (a.is_uint64()) return a.get_uint64() == b.get_uint64();
  return a.get_double() == b.get_double();
}

bool same_members(const Object& a, const Object& b) {
  if (a.size() != b.size()) return false;
  return std::ranges::all_of(a, [&b](const auto& entry) {
    const Value* other = b.if_contains(entry.key());
    return other != nullptr && same(entry.value(), *other);
  });
}

}  // namespace

const Value* member(const Value& value, std::string_view name) {
  const Object* object = value.if_object();
  return object == nullptr ? nullptr : object->if_contains(name);
}

Value* member(Value& value, std::string_view name) {
  Object* object = value.if_object();
  return object == nullptr ? nullptr : object->if_contains(name);
}

const Value* at(const Value& root, std::string_view path) { return walk(root, path); }
Value* at(Value& root, std::string_view path) { return walk(root, path); }

std::string_view text(const Value* value) {
  if (value == nullptr || !value->is_string()) return {};
  const auto& string = value->get_string();
  return {string.data(), string.size()};
}

std::string_view text_at(const Value& root, std::string_view path) { return text(at(root, path)); }

std::optional<std::int64_t> integer(const Value* value) {
  if (value == nullptr) return std::nullopt;
  if (value->is_int64()) return value->get_int64();
  // Above the largest int64 there is nothing to give; 2^63 itself is already too much.
  if (!value->is_double()) return std::nullopt;
  const double number = value->get_double();
  if (std::trunc(number) != number || std::fabs(number) >= 0x1p63) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

std::optional<std::int64_t> integer_at(const Value& root, std::string_view path) {
  return integer(at(root, path));
}

bool flag_at(const Value& root, std::string_view path) {
  const Value* value = at(root, path);
  return value != nullptr && value->is_bool() && value->get_bool();
}

const Object* object_at(const Value& root, std::string_view path) {
  const Value* value = at(root, path);
  return value == nullptr ? nullptr : value->if_object();
}

const Array* array_at(const Value& root, std::string_view path) {
  const Value* value = at(root, path);
  return value == nullptr ? nullptr : value->if_array();
}

Object& make_object(Object& parent, std::string_view name) {
  Value& value = parent[name];
  if (!value.is_object()) value.emplace_object();
  return value.get_object();
}

// Keeping the order costs a move of all that follows: not for thousands of members.
Object::iterator remove(Object& object, Object::const_iterator member) {
  return object.size() <= 64 ? object.stable_erase(member) : object.erase(member);
}

void remove(Object& object, std::string_view name) {
  if (const auto it = object.find(name); it != object.end()) remove(object, it);
}

bool same(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) return same_number(a, b);
  if (a.kind() != b.kind()) return false;
  if (a.is_object()) return same_members(a.get_object(), b.get_object());
  if (a.is_array()) return std::ranges::equal(a.get_array(), b.get_array(), same);
  if (a.is_string()) return a.get_string() == b.get_string();
  return a.is_null() || a.get_bool() == b.get_bool();
}

std::size_t depth_of(const Value& value) {
  std::size_t inside = 0;
  if (const Object* object = value.if_object()) {
    for (const auto& entry : *object) inside = std::max(inside, depth_of(entry.value()));
    return inside + 1;
  }
  if (const Array* array = value.if_array()) {
    for (const Value& item : *array) inside = std::max(inside, depth_of(item));
    return inside + 1;
  }
  return 0;
}

std::size_t weight_of(const Value& value) {
  std::size_t total = 8;
  if (const Object* object = value.if_object()) {
    for (const auto& entry : *object) total += 4 + entry.key().size() + weight_of(entry.value());
  } else if (const Array* array = value.if_array()) {
    for (const Value& item : *array) total += weight_of(item);
  } else if (value.is_string()) {
    total += value.get_string().size();
  }
  return total;
}

}  // namespace drover::kube
