// JSON in the Kubernetes door is Boost.JSON's value; these helpers read one without throwing.
// Objects keep their members' order. Texts given back live as long as the value.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>
#include <boost/json/value.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace drover::kube {

using Value = boost::json::value;
using Object = boost::json::object;
using Array = boost::json::array;

// The member of an object, or null when there is none or `value` isn't an object.
[[nodiscard]] const Value* member(const Value& value, std::string_view name);
[[nodiscard]] Value* member(Value& value, std::string_view name);

// What stands at "metadata.labels", member by member; null when a step is missing. Names that hold
// dots themselves (label keys) are reached by `member`.
[[nodiscard]] const Value* at(const Value& root, std::string_view path);
[[nodiscard]] Value* at(Value& root, std::string_view path);

// The string there, or "" when it is missing or something else. `text` takes null for missing.
[[nodiscard]] std::string_view text(const Value* value);
[[nodiscard]] std::string_view text_at(const Value& root, std::string_view path);

// The whole number there (also 3.0), or nothing.
[[nodiscard]] std::optional<std::int64_t> integer(const Value* value);
[[nodiscard]] std::optional<std::int64_t> integer_at(const Value& root, std::string_view path);
[[nodiscard]] bool flag_at(const Value& root, std::string_view path);  // true only for `true`

[[nodiscard]] const Object* object_at(const Value& root, std::string_view path);
[[nodiscard]] const Array* array_at(const Value& root, std::string_view path);

// The object that is this member, made when it is missing, null or something else.
Object& make_object(Object& parent, std::string_view name);

// Takes a member out, if it is there. Small objects keep the order of the others.
void remove(Object& object, std::string_view name);
Object::iterator remove(Object& object, Object::const_iterator member);  // gives the next one

// Equal as Kubernetes compares: numbers by amount (1 and 1.0), objects in any order.
[[nodiscard]] bool same(const Value& a, const Value& b);

// Levels of nesting: 0 for a scalar, 1 for {} and [].
[[nodiscard]] std::size_t depth_of(const Value& value);
// About the bytes that `value` prints as; never less than a quarter of it, so good for limits.
[[nodiscard]] std::size_t weight_of(const Value& value);

}  // namespace drover::kube
